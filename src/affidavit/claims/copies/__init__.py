"""Old numbers where they still stand: every value that was superseded is looked for, for ever, in every text."""

from affidavit.claims.copies.finder import Copy, copies
from affidavit.claims.copies.former import Told, formers, standing
from affidavit.claims.copies.loose import loose

__all__ = ["Copy", "Told", "copies", "formers", "loose", "standing"]
