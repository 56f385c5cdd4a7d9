"""Parsers as a script's reader hands them over, written by hand, and the catalogue of what is installed here."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.scripts.reading import Declared, Option, Parse, Parser, Target


@cache
def installed() -> Catalogue:
    return Catalogue([Path(sysconfig.get_path("purelib"))], None)


def parser(
    path: Path,
    *,
    kind: str = "HfArgumentParser",
    classes: tuple[str, ...] = ("transformers.TrainingArguments",),
    own: dict[str, str] | None = None,
    options: tuple[str, ...] = (),
    methods: tuple[str, ...] = ("parse_yaml_file",),
    file: str = "",
    lenient: str = "",
    why_open: str = "",
) -> Parser:
    """Return a parser over these installed classes, and a first-party one with these fields and annotations."""
    if not path.exists():
        path.write_text("import sys\n")
    targets = [Target(name=name, is_first_party=False, bases=(name,)) for name in classes]
    if own:
        fields = tuple(Declared(name=name, path=path, line=1, annotation=kind) for name, kind in own.items())
        targets.append(Target(name=f"{path.stem}.Own", is_first_party=True, fields=fields))
    made = tuple(Option(flags=(flag,), dest=flag[2:].replace("-", "_"), path=path, line=2) for flag in options)
    parses = tuple(Parse(method=method, path=path, line=3, file=file) for method in methods)
    return Parser(
        path=path,
        line=1,
        kind=kind,
        targets=tuple(targets),
        options=made,
        lenient=lenient,
        why_open=why_open,
        parses=parses,
    )
