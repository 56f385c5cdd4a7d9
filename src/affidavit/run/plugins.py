"""What one project judges with: the house's own vocabulary and checks, and those that its plugins bring.

A plugin is an installed package under the entry point group ``affidavit.plugins``, or the project's own folder
``affidavit_checks``. Its ``__init__`` names submodules and imports nothing: ``TERMS``, ``INSTRUMENTS``, ``CHECKS``.
Instruments are named here and imported in the training process only, because they may need what is installed there.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from affidavit import checks as house_checks
from affidavit.attach.launch import Plugin
from affidavit.check.load import admit, load
from affidavit.check.rule import Check
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Vocabulary
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record.record import Fact

GROUP = "affidavit.plugins"
OWN_FOLDER = "affidavit_checks"
OWN_PREFIX = "project"
DECLARATIONS = ("TERMS", "INSTRUMENTS", "CHECKS")


class PluginError(AffidavitError):
    """A plugin cannot be loaded; nothing of it, and nothing else, is judged with."""


@dataclass(frozen=True, kw_only=True)
class House:
    """A vocabulary, the checks over it, what the inside must load, and the fact that says what was loaded."""

    vocabulary: Vocabulary
    checks: tuple[Check, ...]
    plugins: tuple[Plugin, ...]
    fact: Fact


@dataclass(frozen=True, kw_only=True)
class _Brought:
    """A plugin's package as it was imported, under its prefix, and its version in words."""

    prefix: str
    package: ModuleType
    folder: Path
    version: str

    def named(self, declaration: str) -> tuple[str, ...]:
        return tuple(getattr(self.package, declaration, ()))

    def modules(self, declaration: str) -> list[ModuleType]:
        return [importlib.import_module(f"{self.package.__name__}.{name}") for name in self.named(declaration)]


def load_house(root: Path) -> House:
    """Return what a project judges with, all of it or nothing.

    Raises:
        PluginError: a plugin cannot be imported, declares nothing, brings a term outside its prefix or a check that is
            refused; every broken plugin is named.
    """
    vocabulary = load_vocabulary()
    checks = load(house_checks, vocabulary)
    brought: list[_Brought] = []
    complaints: list[str] = []
    for name, find in _plugins(root):
        try:
            one = find()
            for module in one.modules("TERMS"):
                vocabulary = vocabulary.extended(module.TERMS, prefix=one.prefix)
            checks = _admitted(one, vocabulary, checks)
            brought.append(one)
        except Exception as error:  # noqa: BLE001  any code may stand in a plugin; each error is said, none is swallowed
            complaints.append(f"{name}: {error}" if isinstance(error, AffidavitError) else f"{name}: {error!r}")
    if complaints:
        raise PluginError(_refused(complaints))
    versions = tuple(f"{one.prefix} {one.version}" for one in brought)
    source = f"entry points {GROUP}, {OWN_FOLDER}"
    return House(
        vocabulary=vocabulary,
        checks=checks,
        plugins=tuple(_inside(one) for one in brought),
        fact=Fact(name="house.plugins", state=Known(versions, Method.INSPECTED, source)),
    )


def _plugins(root: Path) -> Iterator[tuple[str, Callable[[], _Brought]]]:
    """Yield each plugin's name and how to import it, in one order; nothing is imported yet."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        yield f"plugin {entry.name}", partial(_installed, entry)
    folder = root / OWN_FOLDER
    if folder.is_dir():
        yield OWN_FOLDER, partial(_own, folder)


def _installed(entry: EntryPoint) -> _Brought:
    package = importlib.import_module(entry.module)
    version = entry.dist.version if entry.dist else "of no distribution"
    return _declared(_Brought(prefix=entry.name, package=package, folder=_folder(package), version=version))


def _own(folder: Path) -> _Brought:
    """Import the project's own folder by its path: it need be no package, and another project's must not stand in."""
    initial = folder / "__init__.py"
    for name in [name for name in sys.modules if name == OWN_FOLDER or name.startswith(f"{OWN_FOLDER}.")]:
        del sys.modules[name]
    if initial.is_file():
        spec = spec_from_file_location(OWN_FOLDER, initial, submodule_search_locations=[str(folder)])
    else:
        spec = ModuleSpec(OWN_FOLDER, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
    if spec is None:
        raise PluginError(f"{initial} is no Python file")
    package = module_from_spec(spec)
    sys.modules[OWN_FOLDER] = package
    if initial.is_file() and spec.loader is not None:
        spec.loader.exec_module(package)
    else:
        files = sorted(path.stem for path in folder.glob("*.py"))
        package.__dict__["TERMS"] = tuple(name for name in files if name == "terms")
        package.__dict__["INSTRUMENTS"] = tuple(name for name in files if name == "instruments")
        package.__dict__["CHECKS"] = tuple(name for name in files if name not in ("terms", "instruments"))
    content = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    version = f"sha256:{content.hexdigest()[:12]}"
    return _declared(_Brought(prefix=OWN_PREFIX, package=package, folder=folder, version=version))


def _folder(package: ModuleType) -> Path:
    if not getattr(package, "__path__", None):
        raise PluginError(f"{package.__name__} is a module; a plugin is a package whose submodules it names")
    return Path(next(iter(package.__path__)))


def _declared(one: _Brought) -> _Brought:
    if not any(one.named(declaration) for declaration in DECLARATIONS):
        raise PluginError(f"its __init__ declares none of {', '.join(DECLARATIONS)}, so nothing of it would be loaded")
    return one


def _admitted(one: _Brought, vocabulary: Vocabulary, known: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the known checks and those of a plugin, whose ids begin with its prefix."""
    modules = one.modules("CHECKS")
    if not modules:
        return known
    checks = admit(modules, vocabulary, known=known)
    prefix = one.prefix.replace("_", "-")
    foreign = [check.id for check in checks[len(known) :] if not check.id.startswith(f"{prefix}-")]
    if foreign and one.prefix != OWN_PREFIX:
        raise PluginError(f'its checks {", ".join(foreign)} do not begin with "{prefix}-"')
    return checks


def _inside(one: _Brought) -> Plugin:
    return Plugin(
        prefix=one.prefix,
        package=one.package.__name__,
        folder=str(one.folder),
        terms=one.named("TERMS"),
        instruments=one.named("INSTRUMENTS"),
    )


def _refused(complaints: list[str]) -> str:
    return refusal(
        subject="plugins",
        expected="packages that load whole",
        saw="; ".join(complaints),
        means="A plugin that is half there looks like one that found nothing, so nothing is judged.",
        action="Mend or uninstall it.",
        unaffected="runs that are recorded already",
    )
