"""Checks that take hours rather than minutes: torture, kills, embedding, defects, fuzzing; and counts: weight, words."""
