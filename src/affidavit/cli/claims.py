"""``affidavit claims``: the numbers of a project's text, held against what was measured."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.rule import Check
from affidavit.claims.error import ClaimsError
from affidavit.claims.facts import facts, shown
from affidavit.claims.fix import Mend, diff, mends, write
from affidavit.claims.judged import age
from affidavit.claims.quantity import quantity_of
from affidavit.claims.sheet import below
from affidavit.claims.superseded import said_now
from affidavit.claims.superseding import estimated, refuse_dangling
from affidavit.claims.survey import Survey, survey
from affidavit.claims.wording import as_written
from affidavit.cli import page
from affidavit.cli.judgement import stated
from affidavit.cli.parameter import Function, example, json_option, strict_option
from affidavit.cli.project import Project, here, today
from affidavit.fact.errors import refusal
from affidavit.observe.person import author_of
from affidavit.record.measurement import FILE, Measurements, Supersession, append, read
from affidavit.record.record import Kind, Record, ordered
from affidavit.report import document
from affidavit.report.claims import Entry, claims_list, claims_report
from affidavit.report.sarif import sarif
from affidavit.report.terminal import Span, Tone, line


@click.group(
    short_help="Hold the numbers in text against their measurements.",
    epilog=example("affidavit claims check"),
)
def command() -> None:
    """Hold the numbers in text against their measurements, and find the old ones that were copied.

    "affidavit measure" writes what a number must say. In text it carries the id of its measurement:

    \b
    [145.5 s](claim:encode-cache-rebuild)                       Markdown
    <!-- claim: encode-cache-rebuild -->145.5 s<!-- /claim -->  Markdown, HTML
    145.5 s (claim: encode-cache-rebuild)                       any prose, docstrings
    LIMIT = 145.5  # s, claim: encode-cache-rebuild             comments after #

    The cells of a notebook are read as what they are. Code within prose is not read.

    What was taken back is listed in the document that says so, by "claims fix --write":

    \b
    <!-- affidavit:superseded -->
    <!-- /affidavit:superseded -->
    """


def paths_argument(function: Function) -> Function:
    return click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")(function)


@command.command(
    short_help="Say which numbers are wrong, stale, or of other code.",
    epilog=example("affidavit claims check --release"),
)
@paths_argument
@click.option("--release", is_flag=True, help="Refuse numbers whose code changed since, too.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Write a SARIF log instead of text.")
@strict_option
@json_option
def check(paths: tuple[Path, ...], release: bool, as_sarif: bool, strict: bool, as_json: bool) -> int:
    """Read all text of the project, or of these paths: 0 clean, 1 a number is wrong, 4 something could not be read.

    Untracked files are read, too. A number is compared in its own unit, as far as it is rounded; one that was taken
    back is looked for in every unit. A number whose code changed waits for a person, and with --release it fails.
    """
    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif are two documents; ask for one.")
    project = here()
    found, _ = _surveyed(project, paths)
    record = Record(
        kind=Kind.PROJECT,
        subject="these claims",
        facts=ordered(facts(found, project.root, is_release=release)),
        vocabulary=project.vocabulary,
    )
    case = Case(records={SUBJECT: record}, as_of=today())
    known = {fact.name for fact in record.facts}
    checks = tuple(one for one in project.checks if _asks_for(one) <= known)
    said = stated(project, case, title="these claims", status="as text", strict=strict, checks=checks)
    if as_sarif:
        click.echo(sarif(said))
    elif as_json:
        page.say(document.statement(said))
    else:
        page.show(claims_report(said))
    return said.decision.exit_code


@command.command(
    "ls",
    short_help="List what was measured, and where it is stated.",
    epilog=example("affidavit claims ls"),
)
@paths_argument
@json_option
def listed(paths: tuple[Path, ...], as_json: bool) -> int:
    """List what was measured, how long ago, whether it still holds, and where it is stated."""
    project = here()
    found, measurements = _surveyed(project, paths)
    _tell_unread(found, project.root)
    stale = {word.claim: word.said for word in found.judged.stale}
    entries = []
    for name in measurements.names:
        measured = measurements.last(name)
        assert measured is not None
        taken_back = measurements.superseded(name)
        now = said_now(name, measurements)
        successor = f"; it is {as_written(now)} ({now.name})" if now is not None else ""
        doubt = f"taken back: {taken_back.why}{successor}" if taken_back is not None else stale.get(name, "")
        here_at = (one for one in found.judged.held if one.anchor.claim == name)
        places = tuple(f"{shown(one.path, project.root)}:{one.anchor.line}" for one in here_at)
        says, made = as_written(measured), age(measured, today())
        entries.append(Entry(claim=name, says=says, made=made, doubt=doubt, places=places))
    if as_json:
        page.say({"claims": [asdict(one) for one in entries]})
    else:
        page.show(claims_list(entries))
    return 0


@command.command(
    short_help="Print the diff that mends them; --write applies it.",
    epilog=example("affidavit claims fix --write"),
)
@paths_argument
@click.option("--write", "writes", is_flag=True, help="Write tracked files without changes; name the others.")
def fix(paths: tuple[Path, ...], writes: bool) -> int:
    """Print what would mend every wrong number and every copy of an old one, as a diff, in the unit of its place.

    Returns 1 where something is left to mend, 4 where a measurement could not be read, 0 otherwise.
    """
    project = here()
    found, _ = _surveyed(project, paths)
    clean = _tell_unread(found, project.root)
    todo = mends(found.mendable)
    by_hand = [word for word in found.mendable if not word.edits]
    if not writes:
        # Bytes: a text that is no UTF-8 is printed as it is, so that git takes the diff.
        click.echo("".join(diff(todo, project.root)).encode("utf-8", "surrogateescape"), nl=False)
        _tell(f"{shown(word.path, project.root)}:{word.line}: by hand, {word.said}" for word in by_hand)
        return 1 if todo or by_hand else clean
    left = [(mend, reason) for mend in todo if (reason := write(mend))]
    for mend in todo:
        if mend not in [one for one, _ in left]:
            click.echo(f"{shown(mend.path, project.root)}: {_places(mend)} mended")
    _tell(f"{shown(mend.path, project.root)}: not written, {reason}; {_places(mend)} to mend" for mend, reason in left)
    _tell(f"{shown(word.path, project.root)}:{word.line}: by hand, {word.said}" for word in by_hand)
    return 1 if left or by_hand else clean


@command.command(
    short_help="Take claims back, with a successor or without.",
    epilog=example("affidavit claims supersede old-rebuild --by encode-cache-rebuild --why 'it was an estimate'"),
)
@click.argument("claims", nargs=-1, required=True, metavar="CLAIM...")
@click.option("--by", default="", metavar="CLAIM", help="The measurement that says it right.")
@click.option("--why", required=True, help="Why.")
@click.option("--was", default="", metavar="NUMBER", help="What it said, where it was never measured: '4.3 HOURS'.")
@click.option("--scope-was", default="", metavar="SEAT", help="What the numbers were true of, in words.")
@click.option("--author", default="", help="Who says so; by default git's user.name, else the login name.")
@json_option
def supersede(claims: tuple[str, ...], by: str, why: str, was: str, scope_was: str, author: str, as_json: bool) -> int:
    """Take one claim back, or a set of them. Nothing is deleted: their numbers are looked for from now on.

    With --by every place that stated one is mended to the successor by "affidavit claims fix"; without, a person does.
    """
    project = here()
    path = project.root / FILE
    measurements = read(path)
    said = Supersession(
        claims=tuple(dict.fromkeys(claims)),
        by=by,
        why=why.strip(),
        scope_was=scope_was,
        author=author or author_of(project.root),
        date=datetime.datetime.now(datetime.UTC),
    )
    estimate = estimated(said, was, measurements)
    refuse_dangling(said, measurements, has_estimate=bool(estimate))
    append(path, (*estimate, said))
    old = [one for one in (*estimate, *map(measurements.last, said.claims)) if one is not None]
    now = said_now(by, measurements) if by else None
    successor = "" if now is None else as_written(now)
    if as_json:
        page.say({"claims": list(said.claims), "said": [as_written(one) for one in old], "now": successor})
        return 0
    for one in old:
        page.show([line(Span(one.name, Tone.STRONG), f"  {as_written(one)} → {successor or 'no successor'}")])
    unseen = [one.name for one in old if quantity_of(one.value, one.unit) is None]
    _tell(f"{name}: its unit is none that is looked for; only places that name the claim are found." for name in unseen)
    _tell(['"affidavit claims fix" shows every place that still says it.'])
    return 0


def _surveyed(project: Project, paths: Iterable[Path]) -> tuple[Survey, Measurements]:
    """Return what is known of these paths or of the whole project.

    Raises:
        ClaimsError: nothing was ever measured here, or nothing lies at a path.
    """
    if not (project.root / FILE).exists():
        raise ClaimsError(_nothing_measured(project.root))
    measurements = read(project.root / FILE)
    files: list[Path] = []
    for path in [*paths] or [project.root]:
        if not path.exists():
            raise ClaimsError(_nothing_there(path))
        files += below(path.absolute()) if path.is_dir() else [path.absolute()]
    return survey(dict.fromkeys(files), measurements, project.root), measurements


def _asks_for(one: Check) -> set[str]:
    return {need.name if need.role == SUBJECT else str(need) for need in map(Need.parse, one.reads)}


def _tell_unread(found: Survey, root: Path) -> int:
    """Say what of the measurements could not be read, and return how a command ends that has nothing else to say."""
    _tell(f"{shown(path, root)}{f':{at}' if at else ''}: not read, {why}" for path, at, why in found.unread)
    return 4 if found.unread else 0


def _places(mend: Mend) -> str:
    return "1 place" if mend.places == 1 else f"{mend.places} places"


def _tell(notes: Iterable[str]) -> None:
    page.show([line(note) for note in notes], sys.stderr)


def _nothing_measured(root: Path) -> str:
    return refusal(
        subject="claims",
        expected=f"{FILE} (project folder)",
        saw=f"none in {root}",
        means="There is nothing to hold a number against, and that is no pass.",
        action='Measure one: "affidavit measure NAME -- COMMAND".',
        unaffected="everything; nothing was written",
    )


def _nothing_there(path: Path) -> str:
    return refusal(
        subject="claims",
        expected="a file or a folder (command line)",
        saw=f"nothing at {path}",
        means="Nothing was read.",
        action=f'Run "ls {path.parent}".',
        unaffected="everything; nothing was written",
    )
