"""The arguments that several verbs share, so that they mean and read the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

LAST = "last"


def run_argument(function: Function) -> Function:
    """RUN: an id, the beginning of one, a run folder, or ``last``."""
    return click.argument("run", default=LAST, metavar="[RUN]")(function)


def json_option(function: Function) -> Function:
    return click.option("--json", "as_json", is_flag=True, help="Write one JSON document instead of text.")(function)


def strict_option(function: Function) -> Function:
    return click.option("--strict", is_flag=True, help="Let what waits for a review block, too.")(function)


def example(text: str) -> str:
    """Return the last lines of a verb's help."""
    return f"\b\nExample:\n  {text}"


def command_argument(function: Function) -> Function:
    """The training command, everything after ``--``; its own options are its own."""
    return click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")(function)
