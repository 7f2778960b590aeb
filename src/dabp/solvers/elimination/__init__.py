"""Mini-bucket elimination."""
