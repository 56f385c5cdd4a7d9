"""Caches whose key covers the meaning, and what tells of those whose key does not.

A digest's name records every parameter that changes the output; so does the key here: it is the digest of a pre-image
that is kept, whole, beside the entry. Standard library only and Python >= 3.10: this half runs in the user's process.
"""
