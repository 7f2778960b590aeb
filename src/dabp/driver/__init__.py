"""The driver: one call from a problem to a `Result`, its limits, signals, traces, checkpoints and restarts."""
