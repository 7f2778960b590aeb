"""The semidefinite bound on problems of two-valued variables."""
