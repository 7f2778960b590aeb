"""Message passing on the LP dual."""
