"""Instruments are proved able to fail: checks, guards, gates and the watch, each on the code that is here now."""
