"""Frameworks, one file each, to moments: they know no facts, and nothing but them knows a framework."""
