"""Tests of dabp; the folders mirror src/dabp."""
