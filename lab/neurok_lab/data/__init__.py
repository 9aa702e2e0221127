"""Folders of files, and generators, to indexable sets of nouns."""
