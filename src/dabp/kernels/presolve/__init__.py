"""Inner loops of the exact simplifications."""
