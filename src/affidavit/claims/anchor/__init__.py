"""Anchors: the places of a text at which a number carries the id of its measurement."""
