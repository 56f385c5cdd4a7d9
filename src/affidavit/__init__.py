"""A training run's sworn statement about itself."""

__version__ = "0.1.0"
