"""``affidavit measure``: a number with everything that it was true of."""

from __future__ import annotations

import re
from pathlib import Path

import click
import msgspec

from affidavit.claims.quantity import quantity_of
from affidavit.claims.wording import as_written, number
from affidavit.cli import page
from affidavit.cli.complaint import complain
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here
from affidavit.record import lines, measurement
from affidavit.record.measurement import Measurement, is_name
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.command import CommandError
from affidavit.run.measure import identity, imported
from affidavit.run.measure.command import REPEATS_MOST, Order, measure
from affidavit.run.measure.error import StoppedError
from affidavit.run.measure.number import SECONDS_IN
from affidavit.run.measure.reading import Printed, Reading, Wall, Written

_TIMES = click.IntRange(1, REPEATS_MOST)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(
    short_help="Measure a command, and keep the number with what it was true of.",
    epilog=example("affidavit measure encode-cache-rebuild --covers src/encode.py:rebuild -- python encode.py --cold"),
)
@click.argument("name", required=False, default="", metavar="NAME")
@click.option("--unit", default="", help="Of the number; seconds by default, where it is the wall time.")
@click.option("--repeats", type=_TIMES, default=1, show_default=True, help="How often; the median is kept.")
@click.option("--warm-up", type=click.IntRange(0, REPEATS_MOST), default=0, help="How often before, for nothing.")
@click.option("--covers", multiple=True, metavar="CODE", help="What is measured: a path, or path:function; repeat it.")
@click.option("--seat", default="", help="What else it depends on: a serving seat, a size of batch.")
@click.option("--note", default="", help="Whatever a reader should know.")
@click.option("--read", metavar="REGEX", help="Read the number from what the command prints, not from the clock.")
@click.option("--read-json", metavar="[FILE:]KEY", help="Read it from JSON that the command prints, or writes to FILE.")
@click.option("--import-benchmark", type=_FILE, help="Take over what pytest-benchmark measured; NAME goes in front.")
@click.option("--import-hyperfine", type=_FILE, help="Take over what hyperfine measured; NAME goes in front.")
@json_option
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(
    name: str,
    unit: str,
    repeats: int,
    warm_up: int,
    covers: tuple[str, ...],
    seat: str,
    note: str,
    read: str | None,
    read_json: str | None,
    import_benchmark: Path | None,
    import_hyperfine: Path | None,
    as_json: bool,
    argv: tuple[str, ...],
) -> int:
    """Run a command and append its wall time, or a number that it prints, to measurements.jsonl.

    Kept with it: how often, how far apart, the commit, the machine, the packages, the digest of the code it covers. A
    command that fails measures nothing.
    """
    project = here()
    covers = tuple(map(_placed, covers))
    source = import_benchmark or import_hyperfine
    if source is not None:
        is_order = argv or read or read_json or unit or repeats != 1 or warm_up
        if is_order or (import_benchmark and import_hyperfine) or (name and not is_name(name)):
            raise click.UsageError(
                "an import takes one file, in seconds, a prefix in kebab-case at most, and nothing of a command."
            )
        added = imported.about(project.root, prefix=name, covers=covers, seat=seat, note=note)
        found = imported.from_benchmark(source, added) if import_benchmark else imported.from_hyperfine(source, added)
        return _kept(project, found, as_json=as_json)
    if not is_name(name) or not argv:
        raise click.UsageError('expected a name in kebab-case and a command: "affidavit measure NAME -- COMMAND".')
    order = Order(
        name=name,
        unit=_unit(unit, reads=bool(read or read_json)),
        argv=argv,
        reading=_reading(unit, read, read_json),
        repeats=repeats,
        warm_up=warm_up,
        covers=covers,
        seat=seat,
        note=note,
    )
    lines.refuse_unwritable(project.root / measurement.FILE)  # what cannot be kept is not worth hours
    try:
        return _kept(project, (measure(order, project=project.root),), as_json=as_json)
    except (CommandError, StoppedError) as error:
        complain(str(error))
        return error.code


def _placed(target: str) -> str:
    """Return a target of which the path is told from where the person stands, where such a file is."""
    place, colon, name = target.rpartition(":") if ":" in target else (target, "", "")
    path = Path.cwd() / place
    return f"{path}{colon}{name}" if place and path.is_file() else target


def _unit(unit: str, *, reads: bool) -> str:
    if reads and not unit:
        raise click.UsageError("--unit says what a number is that a command prints.")
    if not reads and unit and unit not in SECONDS_IN:
        raise click.UsageError(f"--unit of a wall time is one of {', '.join(SECONDS_IN)}.")
    return unit or "s"


def _reading(unit: str, pattern: str | None, key: str | None) -> Reading:
    if pattern is not None and key is not None:
        raise click.UsageError("--read and --read-json are two ways to one number.")
    if pattern is not None:
        try:
            return Printed(pattern=re.compile(pattern, re.M))
        except re.error as error:
            raise click.UsageError(f"--read: {error}") from error
    if key is not None:
        file, colon, path = key.rpartition(":")
        return Written(key=path, file=Path(file) if colon else None)
    return Wall(unit=unit or "s")


def _kept(project: Project, found: tuple[Measurement, ...], *, as_json: bool) -> int:
    """Append measurements and say them; a line that is there already is not doubled."""
    path = project.root / measurement.FILE
    before = measurement.read(path)
    measurement.append(path, [one for one in found if one not in before.measured])
    strange = dict.fromkeys(one.unit for one in found if one.unit and quantity_of(one.value, one.unit) is None)
    hidden = (f"{path.name} is ignored by git: it is no use to anybody else",) if identity.is_ignored(path) else ()
    units = (f'"{unit}" is no unit that a claim can be held against' for unit in strange)
    page.tell((*before.problems, *units, *hidden))
    if as_json:
        page.say({"measurements": [msgspec.to_builtins(one) for one in found]})
    else:
        page.show(drawn for one in found for drawn in _lines(one, before.last(one.name)))
    return 0


def _lines(one: Measurement, earlier: Measurement | None) -> list[Line]:
    spread = "" if one.spread is None else f" ± {number(one.spread)} ({one.spread_is})"
    said = [line(Span(f"{one.name} {as_written(one)}", Tone.STRONG), Span(f"{spread}, n = {one.n}"))]
    device = ", ".join(text for key in ("processor", "cores", "gpu") if (text := _part(one, key)))
    about = {
        "on": device,
        "commit": f"{one.commit[:12]} {one.tree}".strip() or "unknown",
        "covers": ", ".join(one.code) or "nothing: it never goes stale by itself",
        "run": one.run,
        "seat": one.seat,
        "before": "" if earlier is None or earlier == one else f"{as_written(earlier)}, {earlier.date:%Y-%m-%d}",
    }
    return said + [line(text, head=head, indent=len("covers  ")) for head, text in about.items() if text]


def _part(one: Measurement, key: str) -> str:
    text = one.device.get(key, "")
    return f"{text} cores" if text and key == "cores" else text
