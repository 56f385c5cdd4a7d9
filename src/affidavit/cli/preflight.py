"""``affidavit preflight``: a rehearsal of N steps that cannot write over anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from affidavit.attach.session import SAMPLED_STEP
from affidavit.cli import page
from affidavit.cli.attest import ask_open, is_attended
from affidavit.cli.complaint import complain
from affidavit.cli.observed import Order, observe
from affidavit.cli.parameter import command_argument, example, strict_option
from affidavit.cli.project import here
from affidavit.record.record import Kind
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.command import CommandError
from affidavit.run.rehearse import Rehearsal, rehearsed

_VETOES_SHOWN = 8


@click.command(
    short_help="Rehearse a training command, and judge the rehearsal.",
    epilog=example("affidavit preflight -- python train.py --config big.yaml"),
)
@click.option(
    "--steps",
    default=SAMPLED_STEP,
    show_default=True,
    type=click.IntRange(min=SAMPLED_STEP),
    help="End every rank after so many optimizer steps.",
)
@click.option("--recipe", default="", help="The name under which the lock holds this kind of run.")
@strict_option
@command_argument
def command(steps: int, recipe: str, strict: bool, argv: tuple[str, ...]) -> int:
    """Rehearse a training command: the same checks before, then N steps that cannot write over what exists.

    Plan, schedule and data stay as they are; every rank ends after step N, before the script saves or pushes anything.
    Checks, guards and gates that are due are proved able to fail, gates are asked, and at a terminal so are you.
    Returns the verdict: 0, 1 or 4. What depends on the machine is judged again at step 2 of the real run.
    """
    order = Order(argv=argv, kind=Kind.REHEARSAL, steps=steps, recipe=recipe, strict=strict)
    project = here()
    if is_attended():
        ask_open(project)
    try:
        observed = observe(project, order)
        ended = observed.start()
    except CommandError as error:
        complain(str(error))
        return error.code
    said = observed.conclude()
    if said is None:
        return 4
    page.show(_lines(rehearsed(observed.run.folder, said.case.subject)), sys.stderr)
    if ended.code and not said.decision.exit_code:
        complain(f"The rehearsed command ended with exit code {ended.code}, so nothing is proved.")
        return 4
    return said.decision.exit_code


def _lines(found: Rehearsal) -> Iterator[Line]:
    for veto in found.vetoed[:_VETOES_SHOWN]:
        yield line(veto, head=Span("kept from", Tone.FAINT), indent=len("kept from  "))
    if len(found.vetoed) > _VETOES_SHOWN:
        yield line(f"and {len(found.vetoed) - _VETOES_SHOWN} more", indent=len("kept from  "))
    if found.seat_bound:
        yield line(Span(f"judged again at step 2 of the real run: {', '.join(found.seat_bound)}", Tone.FAINT))
