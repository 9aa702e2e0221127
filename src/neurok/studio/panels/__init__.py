"""Panels: each translates what is clicked into calls of the scene, and the scene into what is shown."""
