"""Damaged files by the thousand: seeds that our own writers make, injuries drawn from a number, and what they did."""
