"""Checkpoints: what they hold (`contents`, `form`), how they lie on disk (`file`), when they are written (`saving`)."""
