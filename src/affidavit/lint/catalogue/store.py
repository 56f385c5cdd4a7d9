"""Signatures that were read once, kept as JSON beside the digests of all that they were read from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from affidavit.lint.catalogue.missing import Missing
from affidavit.names.signature import Parameter, Rest, Signature

READER = 4
"""Which text of ours read it; raised by each change of what the reader sees."""
_LONG = 80


class Store:
    """A folder of signatures: one file for each callable, version of its package and reader.

    A file that is damaged, or that other packages were read for, counts as none; it is written anew. Writers do not
    wait for each other: a file appears whole.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, callee: str, package: str, key: Callable[[str], str]) -> Signature | Missing | None:
        """Return what still holds: every package that it was read from has the key it had then."""
        for path in self._paths(callee, package):
            told = _loaded(path)
            if told is not None and all(key(name) == known for name, known in told[1].items()):
                return told[0]
        return None

    def past(self, callee: str, package: str, versions: Mapping[str, str]) -> Signature | None:
        """Return what was once read of a callable, whatever is installed now.

        ``versions`` are those of the packages that it must have been read with, where it was read with them at all.
        """
        for path in self._paths(callee, package):
            told = _loaded(path)
            if told is None or isinstance(told[0], Missing):
                continue
            pairs = (one.partition(" ") for one in told[2])
            if all(versions.get(name, version) == version for name, _, version in pairs):
                return told[0]
        return None

    def versions(self, package: str) -> tuple[str, ...]:
        """Return the versions of a distribution of which something was read."""
        found = (path.name.partition("@")[2] for path in self.folder.glob(f"{_safe(package)}@*"))
        return tuple(sorted(found))

    def put(
        self, callee: str, package: str, found: Signature | Missing, keys: Mapping[str, str], packages: Sequence[str]
    ) -> None:
        """Keep what was found; a folder that cannot be written keeps nothing, and the next reader reads again."""
        document: dict[str, object] = {"reader": READER, "asked": callee, "keys": dict(keys), "packages": [*packages]}
        if isinstance(found, Missing):
            document |= {"missing": found.why, "is_proved": found.is_proved}
        else:
            parameters = [[one.name, one.default, one.owner, one.deprecated] for one in found.parameters.values()]
            document |= {"callee": found.callee, "package": found.package, "rest": found.rest.value, "why": found.why}
            document["parameters"] = parameters
        digest = hashlib.sha256(json.dumps(sorted(keys.items())).encode()).hexdigest()[:12]
        path = self._folder(package) / f"{_safe(callee)}.{digest}.json"
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                with os.fdopen(handle, "w") as file:
                    json.dump(document, file, separators=(",", ":"))
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def _folder(self, package: str) -> Path:
        name, _, version = package.partition(" ")
        return self.folder / f"{_safe(name)}@{_safe(version)}" / str(READER)

    def _paths(self, callee: str, package: str) -> Iterator[Path]:
        folder, stem = self._folder(package), f"{_safe(callee)}."
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(folder)):  # noqa: PTH208 - asked for each callable of a project
                if name.startswith(stem) and name.count(".") == stem.count(".") + 1:
                    yield folder / name


def _loaded(path: Path) -> tuple[Signature | Missing, dict[str, str], tuple[str, ...]] | None:
    try:
        told = json.loads(path.read_bytes())
        keys = {str(name): str(key) for name, key in told["keys"].items()}
        packages = tuple(str(one) for one in told["packages"])
        if "missing" in told:
            missing = Missing(why=told["missing"], package_absent=False, is_proved=told["is_proved"] is True)
            return missing, keys, packages
        parameters = {
            name: Parameter(name=name, default=default, owner=owner, deprecated=deprecated)
            for name, default, owner, deprecated in told["parameters"]
        }
        signature = Signature(
            callee=told["callee"],
            package=told["package"],
            parameters=parameters,
            rest=Rest(told["rest"]),
            why=told["why"],
        )
        return signature, keys, packages
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _safe(text: str) -> str:
    """A file's name; a long one is shortened by a digest."""
    plain = re.sub(r"[^\w.+-]", "_", text)
    return plain if len(plain) <= _LONG else f"{plain[:_LONG]}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
