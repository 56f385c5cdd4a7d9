"""Around a training command: prepare an attempt, watch it without touching it, seal what it left, assemble a case."""
