"""What is installed, by dotted name: read from text, kept in a store, never imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from affidavit.lint.catalogue.missing import Missing
from affidavit.lint.catalogue.package import Package, Packages
from affidavit.lint.catalogue.past import Past
from affidavit.lint.catalogue.pretrained import widened
from affidavit.lint.catalogue.read import either
from affidavit.lint.catalogue.reader import Reader
from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.source import Module, Sources
from affidavit.lint.catalogue.store import Store
from affidavit.lint.catalogue.thing import Class, Function, Opaque, Thing
from affidavit.names.signature import Signature

_MADE_BY = re.compile(r"transformers\.(Auto\w+|PreTrainedModel)\.(\w+)")
_STAND_INS = (
    ("AutoTokenizer", ("transformers.PreTrainedTokenizerBase",)),
    ("AutoConfig", ("transformers.PreTrainedConfig", "transformers.PretrainedConfig")),
    ("AutoProcessor", ("transformers.ProcessorMixin",)),
    ("", ("transformers.PreTrainedModel", "transformers.GenerationMixin")),
)
"""What every object that an Auto class makes is one of: methods that the class itself does not have."""


class Catalogue:
    """The callables below the site folders of one interpreter.

    Args:
        sites: its folders of packages, in the order of its path.
        store: where signatures are kept between processes, None to keep none.
    """

    def __init__(self, sites: Sequence[Path], store: Path | None) -> None:
        self.sites = tuple(sites)
        self.store = store
        self._sources = Sources(sites)
        self._packages = Packages(self._sources.sites)
        self._resolver = Resolver(self._sources)
        self._reader = Reader(self._resolver)
        self._store = Store(store) if store is not None else None
        self._found: dict[str, Signature | Missing] = {}

    def find(self, callee: str) -> Signature | Missing:
        """Return what a dotted callable takes by name.

        Source: the text of the installed modules, and of those that its ``**kwargs`` go to.
        Blind to: what code changes at import time: names that are set, replaced or wrapped by other modules.
        """
        if callee not in self._found:
            self._found[callee] = self._find(callee)
        return self._found[callee]

    def before(self, versions: Mapping[str, str]) -> Past:
        """Return the same callables as earlier versions had them (``{"transformers": "4.57.6"}``), if the store knows.

        The store knows what was read while a version was installed; nothing is fetched for it.
        """
        return Past(self._store, self._packages, versions)

    def versions_read(self, distribution: str) -> tuple[str, ...]:
        """Return the versions of a distribution that the store knows something of."""
        return self._store.versions(distribution) if self._store is not None else ()

    def package_of(self, module: str) -> str:
        """Return the distribution and version of a module (``transformers 5.24.0``), "" where it is not installed."""
        found = self._packages.of(module)
        return str(found) if found is not None else ""

    def version_of(self, distribution: str) -> str:
        """Return the version of a distribution, "" where it is not installed."""
        return self._packages.version(distribution)

    def text_of(self, module: str) -> str:
        """Return the text of an installed module, "" where there is none."""
        place = self._sources.place(module)
        try:
            return place[0].read_text("utf-8", "replace") if place is not None else ""
        except OSError:
            return ""

    def _find(self, callee: str) -> Signature | Missing:
        top = callee.partition(".")[0]
        package = self._packages.of(top)
        if package is None:
            if top in sys.stdlib_module_names:
                return Missing(why=f"{top} is part of Python", package_absent=False)
            return Missing(why=f"no installed package has a module {top}", package_absent=True)
        if self._store is not None:
            known = self._store.get(callee, str(package), self._key)
            if known is not None:
                return known
        self._reader.touched = {top}
        found = self._read(callee, package)
        if self._store is not None:
            defined = found.callee.partition(".")[0] if isinstance(found, Signature) else top
            tops = {*self._reader.touched, defined}
            keys = {name: key for name in sorted(tops) if (key := self._key(name))}
            self._store.put(callee, str(package), found, keys, [self.package_of(name) for name in keys])
        return found

    def _read(self, callee: str, package: Package) -> Signature | Missing:
        things = self._resolver.dotted(callee) or self._of_stand_in(callee)
        callables = [one for one in things if not isinstance(one, (Module, Opaque))]
        if not callables:
            return self._missing(callee, things, str(package))
        read = either(self._reader.read(one) for one in callables)
        if any(isinstance(one, Opaque) for one in things):
            read = read.opened("one of its definitions is no text")
        read = widened(self._sources, self._resolver, self._reader, callables[0], read)
        return Signature(
            callee=_dotted(callables[0], callee),
            package=str(package),
            parameters=read.parameters,
            rest=read.rest,
            why=read.why,
        )

    def _of_stand_in(self, callee: str) -> tuple[Thing, ...]:
        parts = _MADE_BY.fullmatch(callee)
        if parts is None:
            return ()
        _, bases = next(one for one in _STAND_INS if parts[1].startswith(one[0]))
        return next(filter(None, (self._resolver.dotted(f"{base}.{parts[2]}") for base in bases)), ())

    def _key(self, top: str) -> str:
        found = self._packages.of(top)
        return found.key if found is not None else ""

    def _missing(self, callee: str, things: tuple[Thing, ...], package: str) -> Missing:
        if things:
            why = next((one.why for one in things if isinstance(one, Opaque)), "a module")
            return Missing(why=f"{callee}: {why}", package_absent=False)
        parts = callee.split(".")
        for count in range(len(parts) - 1, 0, -1):
            holders = self._resolver.dotted(".".join(parts[:count]))
            if holders:
                proved = not _MADE_BY.match(callee) and all(self._has_all(one, parts[count]) for one in holders)
                return Missing(
                    why=f"{'.'.join(parts[:count])} of {package} has no {parts[count]}",
                    package_absent=False,
                    is_proved=proved,
                )
        return Missing(why=f"{callee} is no Python text", package_absent=False)

    def _has_all(self, thing: Thing, name: str) -> bool:
        """Say whether text shows every name that a thing has, and this is none of them."""
        if isinstance(thing, Class):
            line = self._resolver.line(thing)
            return not any(isinstance(one, Opaque) for one in line) and (
                self._resolver.attribute(thing, "__getattr__") is None
            )
        if isinstance(thing, Module):
            stars = [self._sources.module(thing.absolute(star)) for star in thing.stars]
            return (
                not thing.makes_names
                and name not in thing.bound
                and all(one is not None and not one.makes_names for one in stars)
            )
        return False


def _dotted(thing: Thing, callee: str) -> str:
    return thing.dotted if isinstance(thing, (Class, Function)) else callee
