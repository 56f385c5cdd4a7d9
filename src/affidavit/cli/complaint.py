"""What went wrong, told on stderr."""

from __future__ import annotations

import sys
import tempfile
import traceback

import click

from affidavit import __version__


def complain(message: str) -> None:
    """Write one message of ours to stderr, harmless whatever it quotes."""
    from affidavit.report.terminal import clean

    for row in message.split("\n"):
        click.echo(clean(row), err=True)


def crash_report(error: Exception) -> str:
    """Keep the trace in a file of its own and return what to tell: a trace on the screen hides the run's own output."""
    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="affidavit-crash-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(f"affidavit {__version__}, python {sys.version.split()[0]}, {sys.platform}\n{text}")
    return (
        f"affidavit: expected to end well, saw {type(error).__name__}: {error} (a defect of ours).\n"
        f"Nothing was judged. The trace is in {file.name}; please report it.\n"
        "Not affected: the run itself and everything that was recorded before."
    )
