"""How hard things fall."""

STANDARD_GRAVITY = 9.81
"""[m/s^2], at the earth's surface."""
