"""The networks and their predictions: joints of parts, grouping of pieces."""
