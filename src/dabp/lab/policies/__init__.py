"""Belief propagation schedules for `bp-learned`, evolved over families of problems."""
