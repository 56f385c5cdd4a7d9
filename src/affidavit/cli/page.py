"""How a verb speaks: lines drawn for whoever reads the stream, or one JSON document."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

import click

from affidavit.report.document import Document, encode
from affidavit.report.terminal import Line, Span, Tone, draw, line, wants_colour


def show(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Draw lines on a stream, stdout by default, in colour where it shows and is wanted."""
    target = stream or sys.stdout
    width = shutil.get_terminal_size().columns if target.isatty() else 80
    drawn = draw(lines, colour=wants_colour(target), width=width, encoding=target.encoding or "utf-8")
    click.echo(drawn, file=target, nl=False, color=True)


def say(document: Document) -> None:
    """Write one JSON document to stdout."""
    click.echo(encode(document))


def tell(notes: Iterable[str]) -> None:
    """Say what a reader may want to know and needs not do anything about: a faint line each, on stderr."""
    show([line(Span(f"affidavit: {note}", Tone.FAINT)) for note in notes], sys.stderr)
