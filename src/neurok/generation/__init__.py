"""Objects from words and pictures: parts as codes, lists of parts, and the networks that write both."""
