"""Whole folders of objects: any command on each, and materials proposed, checked by actions and corrected."""
