"""Which reader certainly opens which file: a launcher, a command line or a script says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.lint.configs.taken import method, reads_files
from affidavit.lint.scripts.reading import Parser

ACCELERATE_LAUNCH = "accelerate launch"


@dataclass(frozen=True, kw_only=True)
class Named:
    """A config file that is certainly read, and by what.

    Args:
        file: the file, where it lies.
        parsers: the parsers of the script that reads it; none where a tool does.
        tool: ``trl sft`` and its like, ``accelerate launch``, "" for a script.
        via: where it is named: "launch.sh:3", "command line", "train.py:40".
    """

    file: Path
    parsers: tuple[Parser, ...] = ()
    tool: str = ""
    via: str


def named_in_scripts(parsers: Iterable[Parser], root: Path) -> Iterator[Named]:
    """Yield the files that a script names in the very call that parses them.

    Blind to: a name that is put together at run time; one that fits two files.
    """
    for parser in parsers:
        for parse in parser.parses:
            if parse.file and reads_files(parser):
                found = only((root / parse.file, parse.path.parent / parse.file))
                if found is not None:
                    yield Named(file=found, parsers=(parser,), via=f"{parse.path.name}:{parse.line}")


def only(candidates: Iterable[Path]) -> Path | None:
    """Return the one file among these, None where there is none or where two differ."""
    found = {path.resolve() for path in dict.fromkeys(candidates) if _is_file(path)}
    return found.pop() if len(found) == 1 else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def keeps_text(parser: Parser) -> bool:
    """Whether text that stands for a number stays text: ``HfArgumentParser`` fills a dataclass with what it loaded.

    ``TrlParser`` makes the keys of a file defaults of argparse, which runs ``type=float`` on them.
    Source: transformers 5.24 hf_argparser ``parse_dict``, trl 1.16 scripts.utils ``set_defaults_with_config``.
    """
    methods = {method(parse.method) for parse in parser.parses}
    return bool(methods & {"parse_yaml_file", "parse_json_file"}) and "parse_args_and_config" not in methods
