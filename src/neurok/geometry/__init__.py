"""Verbs on arrays that would make sense in a textbook; they know nothing of our nouns."""
