"""``affidavit demo``: a real model on real text, then four runs that lie."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import example


@click.command(
    short_help="Train a real model, plant four faults, and find them.", epilog=example("affidavit demo --quick")
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Work in this folder and leave it; by default a temporary one is removed.",
)
@click.option("--quick", is_flag=True, help="Leave out the real model: under a minute on two cores.")
def command(keep: Path | None, quick: bool) -> int:
    """Fine-tune a real model under observation, then plant four faults and find them.

    Needs the packages of 'affidavit[demo]' and no network; takes under four minutes on two cores. Exit code 1 where a
    planted fault was not found.
    """
    from affidavit.demo.show import show

    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        return 0 if show(keep.resolve(), quick=quick, say=page.show) else 1
    with tempfile.TemporaryDirectory(prefix="affidavit-demo-") as place:
        return 0 if show(Path(place), quick=quick, say=page.show) else 1
