"""toulbar2, the exact solver, in a process of its own."""
