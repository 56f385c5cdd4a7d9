"""What is installed, by dotted name: read from text, kept in a store, never imported."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from affidavit.lint.catalogue.missing import Missing
from affidavit.lint.catalogue.package import Packages
from affidavit.lint.catalogue.past import Past
from affidavit.lint.catalogue.pretrained import widened
from affidavit.lint.catalogue.read import either
from affidavit.lint.catalogue.reader import Reader
from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.source import Module, Sources
from affidavit.lint.catalogue.store import Store
from affidavit.lint.catalogue.thing import Class, Function, Opaque, Thing
from affidavit.names.signature import Signature

_ELSEWHERE = {"transformers.PreTrainedModel.generate": "transformers.GenerationMixin.generate"}
"""Methods that every live object of a class has, though the class itself does not inherit them."""


class Catalogue:
    """The callables below the site folders of one interpreter.

    Args:
        sites: its folders of packages, in the order of its path.
        store: where signatures are kept between processes, None to keep none.
    """

    def __init__(self, sites: Sequence[Path], store: Path | None) -> None:
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
        things = self._resolver.dotted(_ELSEWHERE.get(callee, callee))
        callable_things = [one for one in things if not isinstance(one, (Module, Opaque))]
        if not callable_things:
            return self._missing(callee, things, str(package))
        read = either(self._reader.read(one) for one in callable_things)
        if any(isinstance(one, Opaque) for one in things):
            read = read.opened("one of its definitions is no text")
        read = widened(self._sources, self._resolver, self._reader, callee, callable_things[0], read)
        signature = Signature(
            callee=_dotted(callable_things[0], callee),
            package=str(package),
            parameters=read.parameters,
            rest=read.rest,
            why=read.why,
        )
        if self._store is not None:
            tops = {*self._reader.touched, signature.callee.partition(".")[0]}
            keys = {name: key for name in sorted(tops) if (key := self._key(name))}
            packages = [self.package_of(name) for name in keys]
            self._store.put(callee, str(package), signature, keys, packages)
        return signature

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
                proved = all(self._has_all(one, parts[count]) for one in holders)
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
