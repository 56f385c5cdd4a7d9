"""What is installed, by dotted name, read as text: which names a callable takes, and what becomes of the others."""

from affidavit.lint.catalogue.catalogue import Catalogue
from affidavit.lint.catalogue.missing import Missing
from affidavit.lint.catalogue.past import Past

__all__ = ["Catalogue", "Missing", "Past"]
