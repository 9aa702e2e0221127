"""The shared transformer pieces; nothing task-specific."""
