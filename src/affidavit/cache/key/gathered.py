"""The parts of a key as they come together, and whatever keeps it from being whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from affidavit.attach.redact import is_secret_name, redact
from affidavit.cache.key.files import digest_of_file
from affidavit.cache.key.naming import place_of, within_site
from affidavit.cache.key.owner import FIRST, OURS, PACKAGE, Owner, content_of, owner_of
from affidavit.cache.preimage import Part, canonical, digest_of, shown


class Gathered:
    """The parts of one key, by kind and name.

    Attributes:
        parts: by kind and name.
        problems: what cannot be part of a key, by its name → what was seen.
        accused: ``files``, ``environment``, ``random`` or ``network`` → what in the code reaches for it. Only a call
            on real rows can say what it finds there.
        memories: the caches of :mod:`functools` in the closure; a trace has to empty them to see what they hide.
    """

    def __init__(self, project: Path, leaves_out: Callable[[str, str], bool]) -> None:
        self.project = project
        self.leaves_out = leaves_out
        self.parts: dict[tuple[str, str], Part] = {}
        self.problems: dict[str, str] = {}
        self.accused: dict[str, str] = {}
        self.memories: list[Any] = []
        self._files: dict[str, set[str]] = {}

    def add(self, kind: str, name: str, form: Any, words: str) -> None:
        if not self.leaves_out(kind, name):
            self.add_digest(kind, name, digest_of(canonical(form)), words)

    def add_digest(self, kind: str, name: str, digest: str, words: str) -> None:
        if not self.leaves_out(kind, name):
            self.parts[kind, name] = Part(kind, name, digest, shown(words))

    def problem(self, name: str, saw: str) -> None:
        kind, _, rest = name.partition(" ")
        if not self.leaves_out(kind, rest):
            self.problems[name] = saw

    def variable(self, name: str, text: Callable[[str], str]) -> None:
        """Add an environment variable by its value; of a secret only whether it is set, which is all that is kept."""
        if name.startswith("AFFIDAVIT_"):  # how a run is observed moves nothing in it
            return
        value = os.environ.get(name)
        if value is None:
            self.add("environment", name, ["unset"], "unset")
        elif is_secret(name, value):
            self.add("environment", name, ["set"], "set, and a secret")
        else:
            self.add("environment", name, ["is", text(value)], value)

    def of_package(self, owner: Owner, file: str) -> None:
        """Note a distribution, and the file of it in reach; of ours, what watches a run is in nobody's reach."""
        if owner.top == OURS and "/affidavit/cache/" not in file:
            return
        for name in owner.names:
            files = self._files.setdefault(name, set())
            if file.endswith(".py"):
                files.add(file)

    def packages(self) -> None:
        """Add every distribution that was met."""
        for name, files in self._files.items():
            self._package(name, files)

    def _package(self, name: str, files: set[str]) -> None:
        """Add a distribution: what it was when installed, and what the files in reach are now."""
        if self.leaves_out("package", name):
            return
        try:
            content = content_of(name)
            now = sorted([within_site(file).removeprefix("affidavit/cache/"), digest_of_file(file)] for file in files)
        except (OSError, ImportError) as error:
            self.problems[f"package {name}"] = str(error)
            return
        form = [content.name, content.version, content.record, now]
        self.add("package", content.name, form, content.version)

    def file(self, path: str) -> None:
        """Add a file that was opened by its content, and one that was not there as absent."""
        owner = owner_of(path, "")
        if owner.kind == PACKAGE:
            self.of_package(owner, "")
        if owner.kind != FIRST or path.startswith(("/proc/", "/sys/", "/dev/")):
            return
        place = Path(path)
        name = place_of(place, self.project)
        if place.is_dir():
            names = sorted(each.name for each in place.iterdir() if each.name != "__pycache__")
            self.add("folder", name, names, f"{len(names)} names")
        elif place.is_file():
            self.add("file", name, digest_of_file(place), f"{place.stat().st_size:,} bytes")
        else:
            self.add("file", name, "absent", "absent")


def is_secret(name: str, value: Any) -> bool:
    """Say whether a value is a secret, of which no digest is made; a ``text_key`` is a name and counts by value."""
    if not isinstance(value, str) or not value or not is_secret_name(name):
        return False
    return not name.lower().endswith(("key", "keys")) or redact(value) != value
