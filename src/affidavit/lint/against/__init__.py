"""Another version of a package, held against what the files of a project ask for: what breaks, and what changes."""

from affidavit.lint.against.differences import Finds, Row, differences, moved
from affidavit.lint.against.fetch import fetch

__all__ = ["Finds", "Row", "differences", "fetch", "moved"]
