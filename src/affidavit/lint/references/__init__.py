"""References in text: which section, heading or file they point to, and which of them point to nothing."""

from affidavit.lint.references.moved import Moved, read_moved
from affidavit.lint.references.reading import References, read_references
from affidavit.lint.references.reference import Broken

__all__ = ["Broken", "Moved", "References", "read_moved", "read_references"]
