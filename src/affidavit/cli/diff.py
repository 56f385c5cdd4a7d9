"""``affidavit diff``: what two runs, or a run and the lock, resolved to differently."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.judgement import folded, manifest_of
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record.lock import read_lock
from affidavit.record.record import Record
from affidavit.report import document
from affidavit.report.difference import compare, lines

LOCK = "lock"


@click.command(
    short_help="Show how two runs differ in what they resolved to.", epilog=example("affidavit diff 20260101 last")
)
@click.argument("left", metavar="A")
@click.argument("right", metavar="B", default="last")
@click.option("--all", "every", is_flag=True, help="Show differences of environment and of no meaning, too.")
@json_option
def command(left: str, right: str, every: bool, as_json: bool) -> int:
    """Show how two runs differ in what they resolved to; "lock" is what was accepted for the recipe of the other.

    A difference that changes the result is a paragraph: both values, who decided each, and what moved with it. Hosts,
    paths and times are a count. Exit code 1 where a fact of meaning differs, 4 where one side alone knows such a fact.
    """
    project = here()
    comparison = compare(_record(project, left, right), _record(project, right, left))
    if as_json:
        page.say(document.difference(comparison))
    else:
        page.show(lines(comparison, every=every))
    if comparison.changes_meaning:
        return 1
    return 4 if comparison.hides_meaning else 0


def _record(project: Project, name: str, other: str) -> Record:
    """Return the record of a run, or what is locked for the recipe of the run beside it.

    Raises:
        AffidavitError: nothing is locked for that recipe, or both sides are the lock.
    """
    if name != LOCK:
        return folded(project, project.find(name))
    recipe = manifest_of(project, project.find(other)).recipe if other != LOCK else ""
    found = read_lock(project.lock_path, recipe, project.vocabulary) if recipe else None
    if found is None:
        raise AffidavitError(
            refusal(
                subject="diff",
                expected="a run, and a lock that holds its recipe",
                saw=f'no recipe "{recipe}" in {project.lock_path.name}' if recipe else "no run",
                means="There is nothing to compare with.",
                action='Run "affidavit accept" on a run of that recipe.',
                unaffected="the runs and the lock",
            )
        )
    return found
