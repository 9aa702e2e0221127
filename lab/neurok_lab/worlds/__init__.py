"""Generated objects that networks learn from: articulated ones, and soft ones that are moved."""
