"""Joints from geometry: parts, contacts, candidate joints found by moving parts until they collide or come loose."""
