"""``affidavit demo``: a real model on real text, then runs that lie."""

from __future__ import annotations

from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import example


@click.command(
    short_help="Train a real model, plant faults in tiny ones, and find them.", epilog=example("affidavit demo --quick")
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Work in this folder; by default in a new temporary one, which stays, too.",
)
@click.option("--quick", is_flag=True, help="Leave out the real model: a minute or two on two cores.")
def command(keep: Path | None, quick: bool) -> int:
    """Fine-tune a real model under observation, then plant a fault of each kind and find it.

    Each planted fault is a short script that ends with exit code 0 and a falling loss; what an ordinary record says of
    it stands beside what its affidavit says. Needs the packages of 'affidavit[demo]' and no network; takes under four
    minutes on two cores. Exit code 1 where a planted fault was not found.
    """
    from affidavit.demo.show import show

    return 0 if show(keep.resolve() if keep else None, quick=quick, say=page.show) else 1
