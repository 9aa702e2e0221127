"""Scenes: files, words, placing, running and output, above dynamics."""
