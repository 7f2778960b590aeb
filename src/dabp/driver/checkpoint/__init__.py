"""Checkpoints: what they hold (`contents`), how they lie on disk (`file`), when they are written (`schedule`)."""
