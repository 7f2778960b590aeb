"""Tests of the readers and writers."""
