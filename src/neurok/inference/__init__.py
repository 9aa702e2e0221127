"""From a mesh and trained weights to its body plan, its joints and its space of poses."""
