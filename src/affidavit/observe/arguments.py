"""Which files the command line names as configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

CONFIG_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".jinja", ".jinja2"})


def config_arguments(argv: Sequence[str], cwd: Path) -> tuple[Path, ...]:
    """The existing config files that the command line names: `x.yaml`, `--flag=x.yaml`, `key=x.yaml`, `@x.yaml`.

    A recipe lives as often in a YAML file as in code, and its edit leaves no trace in an import list.

    Source: playbook §4.4; argparse's `fromfile_prefix_chars`, Hydra's `key=value`.
    Blind to: configs that the script finds by itself (a Hydra `conf/` folder, a default path in the code):
        the opened files of the run name those.
    """
    named: list[Path] = []
    for word in argv:
        for text in (word, word.partition("=")[2], word.removeprefix("@")):
            path = cwd / text
            if text and path.suffix.lower() in CONFIG_SUFFIXES and path.is_file():
                named.append(path)
    return tuple(dict.fromkeys(named))
