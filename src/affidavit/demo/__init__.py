"""A real fine-tuning, and planted ones that are wrong about themselves, beside what an ordinary record says."""
