"""References in text: which section, heading or file they point to, and which of them point to nothing."""

from affidavit.lint.references.reading import Broken, References, read_references

__all__ = ["Broken", "References", "read_references"]
