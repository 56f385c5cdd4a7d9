"""The config files that a command hands to what it starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from affidavit.lint.configs.named import ACCELERATE_LAUNCH, Named, only
from affidavit.lint.configs.reader import SUFFIXES
from affidavit.lint.configs.taken import FILE_METHODS, method
from affidavit.lint.scripts.reading import Parser
from affidavit.lint.shell.launch import Launch, option


def configs_of(launch: Launch, path: Path, folder: str, root: Path, parsers: tuple[Parser, ...]) -> Iterator[Named]:
    """Yield the configs that are surely read by the launcher, by the program, or by a parser of the script.

    ``TrlParser`` reads what ``--config`` names; ``HfArgumentParser`` what stands first and alone, as its examples do.

    Blind to: a config that plain argparse takes: what the script does with it is the script's.
    """
    via = f"{path.name}:{launch.line}" if path.suffix else path.name
    places = [root, path.parent, *([root / folder, path.parent / folder] if folder not in ("", "?") else [])]

    def file_of(written: str) -> Path | None:
        return only(place / written for place in places) if Path(written).suffix.lower() in SUFFIXES else None

    if launch.by == "accelerate":
        found = file_of(option(launch.launcher, "--config_file", "--config-file"))
        if found is not None:
            yield Named(file=found, tool=ACCELERATE_LAUNCH, via=via)
    if launch.program:
        found = file_of(option(launch.arguments, "--accelerate_config"))
        if found is not None:
            yield Named(file=found, tool=ACCELERATE_LAUNCH, via=via)
    methods = {method(parse.method) for parser in parsers for parse in parser.parses}
    if launch.program or "parse_args_and_config" in methods:
        found = file_of(option(launch.arguments, "--config"))
        if found is not None:
            yield Named(file=found, parsers=parsers, tool=launch.program, via=via)
    elif methods & set(FILE_METHODS) and len(launch.arguments) == 1 and launch.arguments[0].is_sure:
        found = file_of(launch.arguments[0].text)
        if found is not None:
            yield Named(file=found, parsers=parsers, via=via)
