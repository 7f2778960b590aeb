"""Belief propagation: bp, dbp, dbp-scfg and bp-reinforced are presets of one solver."""
