"""``affidavit run``: one command in front of a training command."""

from __future__ import annotations

import click

from affidavit.attach.launch import TOKEN_POLICIES
from affidavit.cli.complaint import complain
from affidavit.cli.observed import Order, observe
from affidavit.cli.parameter import command_argument, example, strict_option
from affidavit.cli.project import here
from affidavit.run.command import CommandError
from affidavit.settings import NAME_GATES, NUMBER_GATES, TREE_GATES


@click.command(
    short_help="Run a training command under observation.",
    epilog=example("affidavit run -- torchrun --nproc-per-node 8 train.py --config big.yaml"),
)
@click.option("--gate", is_flag=True, help="Return the verdict where the command itself ended well.")
@click.option("--stop-on", multiple=True, metavar="CHECK", help="End the command where this check fails at step 2.")
@click.option("--tree", type=click.Choice(TREE_GATES), help="What to do with code that no commit holds.")
@click.option("--reason", default="", help="Why --tree allow.")
@click.option("--names", type=click.Choice(NAME_GATES), help="What to do with names that nothing installed takes.")
@click.option("--numbers", type=click.Choice(NUMBER_GATES), help="What to do with numbers that were taken back.")
@click.option("--recipe", default="", help="The name under which the lock holds this kind of run.")
@click.option("--tokens", type=click.Choice(TOKEN_POLICIES), help="How much of the data the record keeps.")
@strict_option
@command_argument
def command(
    gate: bool,
    stop_on: tuple[str, ...],
    tree: str | None,
    reason: str,
    names: str | None,
    numbers: str | None,
    recipe: str,
    tokens: str | None,
    strict: bool,
    argv: tuple[str, ...],
) -> int:
    """Run a training command under observation: judged before it starts, live at step 2, sealed at its end.

    The command's own output, signals and exit code are untouched; what we say goes to stderr. With --gate a command
    that ended well returns the verdict: 0, 1 or 4.
    """
    project = here()
    _refuse_contradictions(tree, reason, stop_on, {check.id for check in project.checks})
    order = Order(
        argv=argv,
        tree=tree or "",
        reason=reason,
        names=names or "",
        numbers=numbers or "",
        recipe=recipe,
        tokens=tokens or "",
        stop_on=stop_on,
        strict=strict,
    )
    try:
        observed = observe(project, order)
        ended = observed.start()
    except CommandError as error:
        complain(str(error))
        return error.code
    said = observed.conclude()
    if gate and ended.code == 0:
        return said.decision.exit_code if said is not None else 4
    return ended.code


def _refuse_contradictions(tree: str | None, reason: str, stop_on: tuple[str, ...], checks: set[str]) -> None:
    if (tree == "allow") != bool(reason.strip()):
        raise click.UsageError("--tree allow and --reason go together: the record says why nobody minded.")
    unknown = [check for check in stop_on if check not in checks]
    if unknown:
        raise click.UsageError(
            f'--stop-on: there is no check "{", ".join(unknown)}". Run "affidavit explain --checks".'
        )
