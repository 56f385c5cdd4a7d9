"""The house's own vocabulary: one file a subject, joined here and nowhere edited by hand."""

from __future__ import annotations

import importlib
import pkgutil

from affidavit.fact.term import Term, Vocabulary


def load() -> Vocabulary:
    """Return the vocabulary of every subject file in this folder."""
    terms: list[Term] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        terms.extend(importlib.import_module(f"{__name__}.{module.name}").TERMS)
    return Vocabulary(terms)
