"""Inverse kinematics: poses that fit a target, with or without correspondence."""
