"""Every input of a function that can be set to something else, and how: fields, globals, tokenizers, files, variables.

Source: anchors-mechanisms C1: the configuration is not all; masks lie in globals, files and variables as well.
Blind to: the code itself, defaults of other functions, captured variables, folders, values of a kind nobody can vary.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import inspect
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from affidavit.cache.key.gathered import is_secret
from affidavit.cache.key.naming import module_name, place_of
from affidavit.cache.key.owner import FIRST, owner_of
from affidavit.cache.key.reach import Reach
from affidavit.cache.key.tokenizer import is_tokenizer
from affidavit.cache.key.trace import Trace
from affidavit.cache.preimage import shown
from affidavit.cache.probe import stand_in
from affidavit.cache.probe.alterations import alterations, contents
from affidavit.cache.probe.bench import Bench, arguments, config_type
from affidavit.cache.probe.fields import built, fields_of, with_field
from affidavit.cache.probe.nearby import Held, Other, others

COPIED_BYTES = 64 << 20
_CODE = (".py", ".pyc", ".so")
_OF_LIBRARIES = (
    "CUDA_", "HF_", "HUGGINGFACE_", "LC_", "MKL_", "NCCL_", "OMP_", "PYTHON", "TOKENIZERS_", "TORCH", "TRANSFORMERS_",
    "XDG_",
)  # fmt: skip
_OF_SYSTEM = frozenset(("COLUMNS", "HOME", "LANG", "NO_COLOR", "PATH", "TERM", "TMPDIR", "TZ"))
"""Variables that libraries look at by themselves: they count where first-party code names them."""
_PLAIN = (
    bool, int, float, str, bytes, list, tuple, set, frozenset, dict, type(None), enum.Enum, re.Pattern, Namespace,
    SimpleNamespace,
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One other state of an input: what is done, and a block within which it is so."""

    says: str
    scope: Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Input:
    """One thing that an output may depend on, by the name it has in a key, and the states that are tried of it."""

    kind: str
    name: str
    now: Any
    settings: tuple[Setting, ...]
    opened: list[str] = field(default_factory=list, compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Finder:
    """Finds the inputs of a function on a bench.

    Args:
        folder: where copies of files may be written.
        witness: values of the user's that are tried first, by the name of the input.
    """

    bench: Bench
    reach: Reach
    seen: Trace
    held: Held
    project: Path
    folder: Path
    witness: Mapping[str, Sequence[Any]]

    def find(self) -> tuple[Input, ...]:
        found = [
            *self._config(),
            *self._defaults(),
            *self._globals(),
            *self._tokenizer(),
            *self._masks(),
            *self._variables(),
            *self._files(),
        ]
        return tuple({str(one): one for one in found}.values())

    def _witnessed(self, name: str, values: tuple[Other, ...], hint: Any = None) -> tuple[Other, ...]:
        own = []
        for value in self.witness.get(name, ()):
            with suppress(TypeError, ValueError):  # what no field of this type can be, it shall refuse itself
                value = built(hint, value)
            own.append(Other(value, f"set to {shown(repr(value))[:60]}"))
        return (*own, *values)

    def _config(self) -> Iterator[Input]:
        if self.bench.config is None:
            return
        bench, config = self.bench, self.bench.config
        for one in fields_of(config, hint=config_type(bench.function)):
            if is_tokenizer(one.value):
                put = _putting(bench, "config", partial(with_field, config, one.way))
                yield from self._of_tokenizer(one.name, one.value, put)
                continue
            if is_secret(one.name.rpartition(".")[2], one.value):
                continue
            settings = []
            for other in self._witnessed(one.name, others(one.value, one.hint, self.held), one.hint):
                make = _later(with_field, config, one.way, other.value)
                settings.append(Setting(other.says, _scope(bench, "config", make)))
            yield Input("config", one.name, one.value, tuple(settings))

    def _defaults(self) -> Iterator[Input]:
        """Yield the parameters that the function is not handed, so that what stands at them is what counts."""
        function = inspect.unwrap(self.bench.function)
        if not isinstance(function, FunctionType):
            return
        handed = arguments(function, self.bench.config, self.bench.tokenizer, after=1)
        for one in list(inspect.signature(function).parameters.values())[1:]:
            if one.name in handed or one.default is one.empty or not isinstance(one.default, _PLAIN):
                continue
            name = f"{module_name(vars(sys.modules[function.__module__]))}.{function.__qualname__}.{one.name}"
            settings = []
            for other in self._witnessed(name, others(one.default, None, self.held)):
                settings.append(Setting(other.says, _later(stand_in.default, function, one.name, other.value)))
            yield Input("default", name, one.default, tuple(settings))

    def _globals(self) -> Iterator[Input]:
        for kind, name in self.reach.parts:
            if kind == "tokenizer":
                while name := name.rpartition(".")[0]:
                    if (found := _module_of(name)) is not None and is_tokenizer(vars(found[0]).get(found[1])):
                        yield from self._global(name, *found)
                        break
            elif kind == "global" and (found := _module_of(name)) is not None:
                yield from self._global(name, *found)

    def _global(self, name: str, module: ModuleType, key: str) -> Iterator[Input]:
        value = vars(module).get(key)
        owner = owner_of(getattr(module, "__file__", None) or "", module.__name__)
        if owner.kind != FIRST or key.startswith("__"):
            return
        if is_tokenizer(value):
            yield from self._of_tokenizer(name, value, _putting(module, key, lambda new: new))
            return
        inner = dataclasses.is_dataclass(value) and not isinstance(value, type)
        if not inner and not isinstance(value, _PLAIN):
            return
        settings = []
        for other in self._witnessed(name, others(value, None, self.held)):
            settings.append(Setting(other.says, _scope(module, key, _later(_itself, other.value))))
        yield Input("global", name, value, tuple(settings))

    def _tokenizer(self) -> Iterator[Input]:
        if self.bench.tokenizer is not None:
            put = _putting(self.bench, "tokenizer", lambda new: new)
            yield from self._of_tokenizer("tokenizer", self.bench.tokenizer, put)

    def _masks(self) -> Iterator[Input]:
        masks = self.bench.masks
        for at, mask in enumerate(masks):
            again = [each.name for each in masks[:at]].count(mask.name)
            for one in fields_of(mask):
                name = f"{mask.name}{f' {again + 1}' if again else ''}.{one.name}"
                if callable(one.value):  # its code is moved by nobody, as all code
                    continue
                settings = []
                for other in self._witnessed(name, others(one.value, one.hint, self.held)):
                    make = _later(_with_mask, masks, at, one.way, other.value)
                    settings.append(Setting(other.says, _scope(self.bench, "masks", make)))
                yield Input("mask", name, one.value, tuple(settings))

    def _of_tokenizer(self, name: str, value: Any, put: _Put) -> Iterator[Input]:
        found: dict[str, list[Setting]] = {}
        for part, says, alter in alterations(value, self.held):
            found.setdefault(part, []).append(Setting(says, put(_later(_altered, value, alter))))
        for part, settings in found.items():
            yield Input("tokenizer", f"{name}.{part}", None, tuple(settings))

    def _variables(self) -> Iterator[Input]:
        named = set(self.reach.of_kind("environment"))
        for name in sorted({*self.seen.variables, *named}):
            value = os.environ.get(name)
            theirs = name.startswith(_OF_LIBRARIES) or name in _OF_SYSTEM
            if name.startswith("AFFIDAVIT_") or (theirs and name not in named):
                continue
            if value is not None and is_secret(name, value):
                continue
            texts = [each for each in others(value, str, self.held) if isinstance(each.value, str)]
            if value is None:
                texts = [Other(each, f"set to {each!r}") for each in ("1", "0", "true", *self.held.texts[:4])]
            settings = [
                Setting(each.says, _later(stand_in.variable, name, str(each.value)))
                for each in self._witnessed(name, tuple(texts))
            ]
            if value is not None:
                settings.insert(0, Setting("unset", _later(stand_in.variable, name, None)))
            yield Input("environment", name, value, tuple(settings))

    def _files(self) -> Iterator[Input]:
        for number, path in enumerate(self.seen.files):
            place = Path(path)
            if path.startswith(("/proc/", "/sys/", "/dev/")) or place.suffix in _CODE or not place.is_file():
                continue
            if owner_of(path, "").kind != FIRST or place.stat().st_size > COPIED_BYTES:
                continue
            one = Input("file", place_of(place, self.project), None, ())
            settings = []
            for at, other in enumerate(contents(place.read_bytes(), self.held)):
                copied = self.folder / f"{number}-{at}{place.suffix}"
                copied.write_bytes(other.value)
                settings.append(Setting(other.says, _later(stand_in.file, path, str(copied), one.opened)))
            yield replace(one, settings=tuple(settings))


_Put = Callable[[Callable[[], Any]], Callable[[], AbstractContextManager[None]]]


def _later(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return a call that is made when it is needed: what a class refuses, it shall refuse within the block."""
    return lambda: function(*arguments)


def _itself(value: Any) -> Any:
    return copy.deepcopy(value)


def _with_mask(masks: tuple[Any, ...], at: int, way: tuple[str, ...], value: Any) -> tuple[Any, ...]:
    return (*masks[:at], with_field(masks[at], way, value), *masks[at + 1 :])


def _scope(owner: Any, name: str, make: Callable[[], Any]) -> Callable[[], AbstractContextManager[None]]:
    @contextmanager
    def scope() -> Iterator[None]:
        with stand_in.attribute(owner, name, make()):
            yield

    return scope


def _putting(owner: Any, name: str, wrap: Callable[[Any], Any]) -> _Put:
    return lambda make: _scope(owner, name, lambda: wrap(make()))


def _module_of(name: str) -> tuple[ModuleType, str] | None:
    """Return the module and the name within it that a dotted name stands for, or None."""
    head, _, key = name.rpartition(".")
    module = sys.modules.get(head)
    return (module, key) if isinstance(module, ModuleType) and key in vars(module) else None


def _altered(tokenizer: Any, alter: Callable[[Any], None]) -> Any:
    changed = copy.deepcopy(tokenizer)
    alter(changed)
    return changed
