"""Joints from geometry: parts, contacts, joint hypotheses found by moving parts until they collide or come loose."""
