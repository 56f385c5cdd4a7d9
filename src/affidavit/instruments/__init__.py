"""Subjects, one file each: moments to observations. They hold no threshold, no verdict and no framework's name."""
