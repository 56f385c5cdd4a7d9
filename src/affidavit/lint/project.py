"""A project read as text: what its files ask for by name, held against what is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.lint.against import moved
from affidavit.lint.catalogue import Catalogue
from affidavit.lint.configs import read_configs
from affidavit.lint.diff import Held, absent_targets, hold, hold_parser, note_moved
from affidavit.lint.fields import unread_keys
from affidavit.lint.files import Files
from affidavit.lint.gates import GateReading, read_gates
from affidavit.lint.late import late_fields
from affidavit.lint.request import Field, Request, Unread
from affidavit.lint.scripts import read_scripts
from affidavit.lint.shell import read_command, read_launchers


@dataclass(frozen=True, kw_only=True)
class Lint:
    """What the files of a project say by name, and what is to be said of it.

    ``configs`` counts the config files of which a kind or a reader is known. ``doubtful`` are fields of which a reader
    is not certain; ``requests`` are kept for who holds them against another version.
    """

    files: Files
    held: Held
    requests: tuple[Request, ...]
    fields: tuple[Field, ...]
    doubtful: tuple[Field, ...]
    fields_examined: int
    configs: int
    unread: tuple[Unread, ...]
    gates: GateReading


def lint(
    files: Files,
    *,
    root: Path,
    catalogue: Catalogue,
    argv: Sequence[str] = (),
    cwd: Path | None = None,
    earlier: Mapping[str, str] | None = None,
) -> Lint:
    """Return what these files ask for by name, held against a catalogue of what is installed.

    Args:
        argv: the command that is about to run, whose own options are names as well; it runs in ``cwd``.
        earlier: packages with the versions that an earlier run stood on: what moved since then is noted.

    Source: playbook §4.2. Blind to: what each of its readers is blind to.
    """
    scripts = read_scripts(files.scripts, root, named=files.named, store=catalogue.store)
    launchers = read_launchers(files.launchers, scripts.parsers, root, catalogue)
    typed = read_command(argv, scripts.parsers, cwd or root, root, catalogue)
    configs = read_configs(
        files.configs,
        scripts.parsers,
        catalogue,
        root,
        named=(*launchers.named, *typed.named),
        read_names=scripts.read_names,
        sites=catalogue.sites,
    )
    others = (*files.launchers, *files.configs)
    unasked, unasked_examined = unread_keys(files.scripts, others, root)
    late, late_examined = late_fields(scripts.late, scripts.read_names, catalogue)
    readings = (scripts, launchers, typed, configs)
    requests = tuple(request for reading in readings for request in reading.requests)
    held = hold(requests, catalogue)
    for asked in (*launchers.parser_requests, *typed.parser_requests, *configs.parser_requests):
        hold_parser(held, asked)
    absent_targets(held, scripts.parsers, catalogue)
    if earlier:
        note_moved(held, moved(requests, catalogue, catalogue.before(earlier)))
    return Lint(
        files=files,
        held=held,
        requests=requests,
        fields=(*(field for reading in readings for field in reading.fields), *unasked, *late),
        doubtful=configs.doubtful,
        fields_examined=sum(reading.fields_examined for reading in readings) + unasked_examined + late_examined,
        configs=len(configs.examined),
        unread=(*(unread for reading in readings for unread in reading.unread), *held.unread),
        gates=read_gates((*files.scripts, *files.launchers, *files.recipes, *workflows(files)), argv, cwd),
    )


def workflows(files: Files) -> tuple[Path, ...]:
    """Return the configs that hold steps for a shell: workflows and actions of a code host."""
    names = (".gitlab-ci.yml", "action.yml", "action.yaml")
    return tuple(path for path in files.configs if "workflows" in path.parts[-2:-1] or path.name in names)
