"""A project read as text: what its files ask for by name, held against what is installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.configs import read_configs
from affidavit.lint.diff import Held, hold
from affidavit.lint.files import Files
from affidavit.lint.late import late_fields
from affidavit.lint.request import Field, Request, Unread
from affidavit.lint.scripts import read_scripts
from affidavit.lint.shell import read_launchers


@dataclass(frozen=True, kw_only=True)
class Lint:
    """What the files of a project say by name, and what is to be said of it.

    ``requests`` are kept for who holds them against another version.
    """

    files: Files
    held: Held
    requests: tuple[Request, ...]
    fields: tuple[Field, ...]
    fields_examined: int
    unread: tuple[Unread, ...]


def lint(files: Files, *, root: Path, catalogue: Catalogue) -> Lint:
    """Return what these files ask for by name, held against a catalogue of what is installed.

    Source: playbook §4.2. Blind to: what each of its readers is blind to.
    """
    scripts = read_scripts(files.scripts, root)
    configs = read_configs(files.configs, scripts.parsers, catalogue, root)
    launchers = read_launchers(files.launchers, scripts.parsers, root)
    requests = (*scripts.requests, *configs.requests, *launchers.requests)
    held = hold(requests, catalogue)
    late, late_examined = late_fields(scripts.late, scripts.read_names, catalogue)
    return Lint(
        files=files,
        held=held,
        requests=requests,
        fields=(*scripts.fields, *configs.fields, *launchers.fields, *late),
        fields_examined=scripts.fields_examined + configs.fields_examined + late_examined,
        unread=(*scripts.unread, *configs.unread, *launchers.unread, *held.unread),
    )
