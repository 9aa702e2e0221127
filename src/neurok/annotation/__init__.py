"""Materials for whole folders of objects: proposed, checked by actions, corrected by a person."""
