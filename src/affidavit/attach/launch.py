"""The launch file: what the launcher tells every process it reaches, through one environment variable.

``AFFIDAVIT_LAUNCH`` names a JSON file written once an attempt by :mod:`affidavit.run.launch`. A process that finds no
such file, or a newer one, attaches nothing and says so in ``hello``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from affidavit.fact.errors import AffidavitError

VARIABLE = "AFFIDAVIT_LAUNCH"
TOKEN_POLICIES = ("off", "ids", "text")
CANARY_SECONDS = 3.0


class LaunchError(AffidavitError):
    """The launch file is missing, malformed, or of a newer version."""


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A plugin's inside half: its package folder, and the submodules that hold terms and instruments."""

    prefix: str
    package: str
    folder: str
    terms: tuple[str, ...]
    instruments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One attempt of one run, as every process of it sees it.

    Args:
        run: the run's id.
        folder: the run's folder (may be on a network file system; the training process never writes there).
        spool: a node-local folder for journals, heartbeats, evidence and tokens.
        attempt: counted from 0; a requeued job is the next attempt of the same run.
        mode: ``run``, ``rehearsal`` (ends itself at ``rehearsal_steps``) or ``probe``.
        tokens: ``off``, ``ids`` or ``text``: how much of the data the record may keep.
        project: the folder whose code is first-party.
        marks: whether a mark is left beside each model that is saved.
        canary_seconds: how long the run may wait while rows out of its caches are recomputed; 0 recomputes none.
        recipe, commit, tree: what such a mark says of the run; "" where nobody knows.
    """

    run: str
    folder: str
    spool: str
    attempt: int = 0
    mode: str = "run"
    rehearsal_steps: int = 2
    tokens: str = "text"
    project: str = ""
    marks: bool = True
    canary_seconds: float = CANARY_SECONDS
    recipe: str = ""
    commit: str = ""
    tree: str = ""
    plugins: tuple[Plugin, ...] = ()
    format: int = 1

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, path: Path) -> Launch:
        """Return the launch that a file holds.

        Raises:
            LaunchError: missing, unreadable, of a newer format, or with a field this version does not know.
        """
        try:
            raw = json.loads(path.read_text())
            plugins = tuple(_plugin(plugin) for plugin in raw.pop("plugins", ()))
            if raw.get("format") != 1 or set(raw) - {field.name for field in fields(cls)}:
                raise LaunchError(f"{path}: expected launch format 1, saw {raw.get('format')!r} with {sorted(raw)}.")
            return cls(plugins=plugins, **raw)
        except (OSError, ValueError, TypeError) as error:
            raise LaunchError(f"{path}: expected a launch file, saw {type(error).__name__}: {error}.") from error


def _plugin(raw: dict[str, object]) -> Plugin:
    return Plugin(
        prefix=str(raw["prefix"]),
        package=str(raw["package"]),
        folder=str(raw["folder"]),
        terms=tuple(map(str, raw["terms"])),  # type: ignore[call-overload]
        instruments=tuple(map(str, raw["instruments"])),  # type: ignore[call-overload]
    )
