"""What is installed, by dotted name, read as text: which names a callable takes, and what becomes of the others."""

from affidavit.lint.catalogue.catalogue import Catalogue, Missing

__all__ = ["Catalogue", "Missing"]
