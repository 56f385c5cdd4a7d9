"""The entry point: finds the verb, and turns whatever happens into one message and one exit code."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from affidavit import __version__
from affidavit.cli.complaint import complain, crash_report
from affidavit.fact.errors import AffidavitError

USAGE, CRASH, INTERRUPTED, PIPE_CLOSED = 2, 3, 130, 141
"""What the input's author can mend; what only we can; 128 + SIGINT; 128 + SIGPIPE. 0, 1 and 4 are a decision's."""
VERBS = (
    "run",
    "preflight",
    "lint",
    "claims",
    "check",
    "watch",
    "ls",
    "show",
    "tokens",
    "report",
    "diff",
    "accept",
    "attest",
    "annotate",
    "correct",
    "retract",
    "measure",
    "whence",
    "adopt",
    "verify",
    "key",
    "cache",
    "drill",
    "explain",
    "stamp",
    "doctor",
    "demo",
)


class Verbs(click.Group):
    """The verbs in the order in which a newcomer meets them; a verb's module is imported when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        found: click.Command = importlib.import_module(f"affidavit.cli.{cmd_name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], VERBS, 1)
            hint = f' Did you mean "affidavit {near[0]}"?' if near else ' Run "affidavit --help".'
            raise click.UsageError(f'there is no command "{args[0]}".{hint}', ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read our output has seen enough. Click would end with 1, which here says that a check failed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        return code

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one verb and end the process: 0 clean, 1 a check failed, 4 something is unknown, 2 usage, 3 our crash.

        ``run`` ends with its child's own code.
        """
        _stand_in_for_closed()
        _accept_any_text()
        try:
            code = super().main(args, prog_name or "affidavit", complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except click.Abort:
            code = INTERRUPTED
        except AffidavitError as error:
            complain(str(error))
            code = USAGE
        except Exception as error:  # noqa: BLE001  the last resort: said, kept as a trace, and told by its own code
            complain(crash_report(error))
            code = CRASH
        sys.exit(code or 0)


def _stand_in_for_closed() -> None:
    """Open the null device in the place of a standard stream that was closed, as a daemon's often is.

    Otherwise the next file that we open becomes the stream. A command that is started inherits none of it: the stand-in
    closes as the command is executed, and its streams are closed as they would have been without us.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode, flag = ("w", os.O_WRONLY) if number else ("r", os.O_RDONLY)
            file = os.open(os.devnull, flag)
            if file != number:
                os.dup2(file, number, inheritable=False)
                os.close(file)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  for the process


def _accept_any_text() -> None:
    """Let a terminal that cannot write a character show its escape; a report must not end in an encoding error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="affidavit %(version)s")
def command() -> None:
    """A training run's sworn statement about itself.

    Put "affidavit run --" in front of a training command: it is judged while it runs, and sealed when it ends.
    """


def main() -> None:
    """Run the command line and end the process."""
    command.main()
