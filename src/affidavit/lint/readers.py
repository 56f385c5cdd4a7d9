"""Mappings whose keys are read one by one: what the code that reads them says, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.request import Given, Request
from affidavit.lint.union import callees
from affidavit.names.answer import nearest
from affidavit.names.nested import is_said, readers


@dataclass(frozen=True)
class Quoted:
    """The texts of some modules; a key is among them where it stands in quotes."""

    texts: tuple[str, ...]

    def __contains__(self, key: object) -> bool:
        return any(f'"{key}"' in text or f"'{key}'" in text for text in self.texts)

    def words(self) -> set[str]:
        """Return every word in quotes."""
        return {word for text in self.texts for word in re.findall(r"[\"'](\w+)[\"']", text)}


def unsaid(request: Request, catalogue: Catalogue) -> Iterator[tuple[Given, tuple[tuple[Given, str], ...]]]:
    """Yield each mapping that is read key by key, with the keys that its readers do not say, and the nearest they do.

    Source: the text of the modules in :mod:`affidavit.names.nested`, as they are installed.
    Blind to: a reader of the project's own; a key that they say for another purpose.
    """
    for given in request.given:
        modules = {module for callee in callees(request) if given.inside for module in readers(callee, given.name)}
        texts = tuple(catalogue.text_of(module) for module in sorted(modules))
        if texts and all(texts):
            said = Quoted(texts)
            gone = [one for one in given.inside if not is_said(one.name, said)]
            words = said.words() if gone else set()
            yield given, tuple((one, nearest(one.name, words)) for one in gone)
