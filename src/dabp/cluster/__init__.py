"""One solve, or many restarts, by several workers: processes on this machine or on a cluster."""
