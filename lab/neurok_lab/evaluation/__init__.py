"""How good the learned spaces are: targets, measures, what a user would pick instead, tables."""
