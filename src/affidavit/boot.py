"""Composition root of the inner half: gives the session its instruments and each framework its adapter.

Loaded by the finder when a framework that an adapter is named for has been imported. An adapter is a module of
``adapters/`` named like the framework's package. Its ``BINDS`` maps modules to functions ``bind(module, session)``;
it may have ``DESCRIBERS``, called when training begins, and ``TURN``, after whom: who knows more of the model has the
last word; ``KEEPERS`` of state; and ``standing()``.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pkgutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from affidavit import instruments as instruments_package
from affidavit.attach import launch as launch_file
from affidavit.attach.early import BOUND
from affidavit.attach.guard import describe
from affidavit.attach.instrument import Instrument
from affidavit.attach.launch import Launch, Plugin
from affidavit.attach.moment import Loaded
from affidavit.attach.session import Session, Standing
from affidavit.fact import VERSION
from affidavit.fact.errors import AffidavitError
from affidavit.fact.term import Vocabulary
from affidavit.fact.vocabulary import load as load_vocabulary

_session: Session | None = None
_adapters: dict[str, ModuleType] = {}


def wake(name: str) -> None:
    """Load the adapter of a framework that has just been imported, and bind it wherever its modules appear."""
    early = sys.modules["_affidavit_early"]
    if name in _adapters:
        return
    adapter = importlib.import_module(f"affidavit.adapters.{name}")
    _adapters[name] = adapter
    live = session()
    live.keepers.extend(getattr(adapter, "KEEPERS", ()))
    if hasattr(adapter, "DESCRIBERS"):
        live.describers += [(adapter.TURN, describer) for describer in adapter.DESCRIBERS]
        live.describers.sort(key=lambda pair: pair[0])  # not as the script imports them
    for module, bind in adapter.BINDS.items():
        early.finder.expect(module, _Binding(bind, live, early.refuse))


class _Binding:
    """Binds one module once; an error of ours is written down and never reaches the import."""

    def __init__(self, bind: object, session: Session, refuse: object) -> None:
        self._bind = bind
        self._session = session
        self._refuse = refuse

    def __call__(self, module: ModuleType) -> None:
        if module.__dict__.get(BOUND) is self._bind:
            return
        try:
            self._bind(module, self._session)  # type: ignore[operator]
            module.__dict__[BOUND] = self._bind
        except Exception as error:  # noqa: BLE001  what an adapter could not bind shows as facts never seen
            self._refuse(f"binding {module.__name__}: {describe(error)}")  # type: ignore[operator]


def session() -> Session:
    """Return this process's session, made on first use from the launch file.

    Raises:
        LaunchError: there is no launch, or one this version does not read.
    """
    global _session
    if _session is None:
        launch = Launch.read(Path(os.environ[launch_file.VARIABLE]))
        vocabulary, instruments = load_instruments(launch.plugins)
        details: dict[str, object] = {
            "affidavit": VERSION,
            "python": sys.version.split()[0],
            "executable": sys.executable,
            "platform": sys.platform,
            "restart": int(os.environ.get("TORCHELASTIC_RESTART_COUNT") or 0),
            "cwd": _folder(),
        }
        _session = Session(launch, vocabulary, instruments, details, _standing)
        atexit.register(_session.close, "exited")
    return _session


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed under the process, which may train all the same
        return ""


def _standing() -> Standing:
    for adapter in _adapters.values():
        if hasattr(adapter, "standing"):
            found: Standing = adapter.standing()
            return found
    return Standing(rank=0, world=1)


def load_instruments(plugins: tuple[Plugin, ...] = ()) -> tuple[Vocabulary, tuple[type[Instrument], ...]]:
    """Return the vocabulary and every instrument: the house's, then each plugin's under its own prefix.

    Raises:
        AffidavitError: a module of ``instruments/`` or of a plugin holds no instrument, or one emits an unknown term.
    """
    vocabulary = load_vocabulary()
    modules = [
        importlib.import_module(f"{instruments_package.__name__}.{found.name}")
        for found in sorted(pkgutil.iter_modules(instruments_package.__path__), key=lambda found: found.name)
    ]
    for plugin in plugins:
        package = _load_package(plugin)
        for name in plugin.terms:
            brought = importlib.import_module(f"{package}.{name}")
            vocabulary = vocabulary.extended(brought.TERMS, prefix=plugin.prefix)
        modules += [importlib.import_module(f"{package}.{name}") for name in plugin.instruments]
    instruments: list[type[Instrument]] = []
    for module in modules:
        found = [value for value in vars(module).values() if _is_instrument_of(value, module)]
        if not found:
            raise AffidavitError(f"{module.__name__} holds no instrument; a misspelt base class looks just like this.")
        instruments += found
    for instrument in instruments:
        for term in instrument.emits:
            vocabulary[term]
    return vocabulary, tuple(instruments)


def _is_instrument_of(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and issubclass(value, Instrument) and value.__module__ == module.__name__


def _load_package(plugin: Plugin) -> str:
    """Load a plugin's package from the launcher's install by its path; it need not be installed here."""
    if plugin.package not in sys.modules:
        root = Path(plugin.folder)
        spec = spec_from_file_location(plugin.package, root / "__init__.py", submodule_search_locations=[str(root)])
        if spec is None or spec.loader is None:
            raise AffidavitError(f"plugin {plugin.prefix}: no package at {plugin.folder}.")
        module = module_from_spec(spec)
        sys.modules[plugin.package] = module
        spec.loader.exec_module(module)
    return plugin.package


def is_attached() -> bool:
    """Say whether this process is being watched."""
    return launch_file.VARIABLE in os.environ and "_affidavit_early" in sys.modules


def name_tokenizer(tokenizer: object) -> None:
    """Take the tokenizer that the script names, through the adapter that knows its kind."""
    for adapter in _adapters.values():
        offered = adapter.offer_tokenizer(tokenizer) if hasattr(adapter, "offer_tokenizer") else None
        if offered is not None:
            session().fire(Loaded(kind="tokenizer", item=offered, source="affidavit.observe(tokenizer=…)"))
            return
    raise AffidavitError(
        f"tokenizer: expected one of {', '.join(_adapters)}, saw {type(tokenizer).__name__}.\n"
        "Whose tokens are supervised stays unknown. Pass the tokenizer object that made the batches.\n"
        "Not affected: every other fact."
    )
