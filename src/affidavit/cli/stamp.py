"""``affidavit stamp``: the commit's word on each file, for a container that leaves the repository behind."""

from __future__ import annotations

import os
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import example, json_option
from affidavit.observe import stamp as stamps
from affidavit.observe.stamping import make
from affidavit.record import file
from affidavit.report.terminal import Span, Tone, line

_SHOWN = 10


@click.command(short_help="Note the commit's files for an image without .git.", epilog=example("affidavit stamp src"))
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
def command(folder: Path, as_json: bool) -> int:
    """Write affidavit-stamp.json into FOLDER: its commit, and the digest of each file. Run it where an image is built.

    Copy FOLDER into the image with the stamp in it. A run there that finds no repository holds its code against the
    stamp. A dirty tree is stamped as what it is: what no commit holds stays so.
    """
    stamp = make(folder)
    path = folder / stamps.NAME
    file.replace(path, stamps.encode(stamp))
    dirty = stamps.rows(stamp)
    if as_json:
        page.say(
            {
                "stamp": str(path.resolve()),
                "project": stamp.project,
                "commit": stamp.commit,
                "files": len(stamp.files),
                "dirty": [{"path": path, "verdict": verdict} for path, verdict in dirty],
            }
        )
        return 0
    files = "1 file" if len(stamp.files) == 1 else f"{len(stamp.files):,} files"
    page.show(
        [line(Span(f"{stamp.project}@{stamp.commit[:12]}", Tone.STRONG), f": {files} in {os.path.relpath(path)}")]
    )
    page.show([line(Span(f"dirty: {name}, {verdict}", Tone.BAD)) for name, verdict in dirty[:_SHOWN]])
    if dirty:
        more = f"{len(dirty) - _SHOWN} more; " if len(dirty) > _SHOWN else ""
        page.show([line(f"{more}a run on these says that no commit holds them")])
    return 0
