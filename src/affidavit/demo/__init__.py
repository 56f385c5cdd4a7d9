"""A real fine-tuning and four that are wrong about themselves, shown beside what an ordinary record says of them."""
