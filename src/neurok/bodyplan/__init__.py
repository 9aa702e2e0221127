"""Decided once per mesh: pieces, contacts, rigid bodies and what their joints may be."""
