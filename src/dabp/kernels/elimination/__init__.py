"""Eliminating variables: orders, mini-buckets, forests, and variables of small degree."""
