"""Tests that run what the documentation shows."""
