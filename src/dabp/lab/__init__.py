"""What a researcher runs and a user does not load: generators, experiments, training."""
