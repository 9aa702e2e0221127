"""Training: one readable loop, checkpoints that resume exactly, several processes when asked."""
