"""Mini-bucket elimination, and neighbourhoods that it solves exactly."""
