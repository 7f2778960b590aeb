"""A lower bound by message passing on the LP dual."""
