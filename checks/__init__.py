"""Checks that take hours: torture, kills, embedding, defects, fuzzing. And counts: weight, words."""
