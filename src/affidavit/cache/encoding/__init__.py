"""Rows that are encoded, and results that are kept, under a key that covers what they are made from."""
