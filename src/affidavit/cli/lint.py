"""``affidavit lint``: the names that a project's files give, held against what is installed; nothing is run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import click

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.rule import Check
from affidavit.cli import page
from affidavit.cli.judgement import stated
from affidavit.cli.parameter import example, json_option, strict_option
from affidavit.cli.project import Project, here, today
from affidavit.fact.errors import refusal
from affidavit.lint.against import differences, fetch
from affidavit.lint.catalogue import Catalogue
from affidavit.lint.facts import facts, shown
from affidavit.lint.files import Files, LintError, documents, gather
from affidavit.lint.project import Lint, lint
from affidavit.lint.references import References, read_moved, read_references
from affidavit.lint.references.facts import reference_facts
from affidavit.lint.union import short
from affidavit.observe.interpreter import Interpreter
from affidavit.record.record import Kind, Record, ordered
from affidavit.report import document
from affidavit.report.lint import Change, lint_report, upgrade_report
from affidavit.report.sarif import sarif
from affidavit.report.statement import Statement
from affidavit.run.names import earlier_packages, store_of


@click.command(
    short_help="Say which names nothing takes: scripts, configs, launchers.",
    epilog=example("affidavit lint train.py configs/ launch.sh"),
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--python", default="", metavar="PROGRAM", help="The Python whose packages count; else the one on PATH.")
@click.option("--against", default="", metavar="PACKAGE==VERSION", help="Say what another version would break.")
@click.option("--notes", is_flag=True, help="List names that are deprecated, too.")
@click.option("--refs", type=click.Path(path_type=Path), metavar="DOC", help="List who points where in a document.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Write a SARIF log instead of text.")
@strict_option
@json_option
def command(
    paths: tuple[Path, ...],
    python: str,
    against: str,
    notes: bool,
    refs: Path | None,
    as_sarif: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Read files as text, this folder by default: 0 clean, 1 a name is refused, 4 something could not be read.

    Scripts, YAML, JSON and TOML configs and shell launchers are read; no line of them runs and no framework is
    imported. Each name is held against the callable as it is installed for the Python on PATH. In shell scripts,
    Makefiles, Dockerfiles, workflows and crontabs, gates that cannot say no and alarms that cannot say dead are found;
    in documents, and in comments that name one, references that lead nowhere.
    """
    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif are two documents; ask for one.")
    if against and as_sarif:
        raise click.UsageError("--against is no verdict on what is installed, so it has no SARIF log.")
    project = here()
    asked = paths or (Path.cwd(),)
    files = gather(asked)
    code = (*files.scripts, *files.configs, *files.launchers, *files.recipes)
    references = read_references((path.resolve() for path in documents(asked)), (path.resolve() for path in code))
    if refs is not None:
        if not refs.is_file():
            raise LintError(_no_document(refs))
        return _pointers(project, references, refs.resolve(), as_json=as_json)
    if not files.count and not references.documents:
        raise LintError(_nothing_to_read(paths))
    sites = Interpreter.of(_python(python)).sites
    catalogue = Catalogue(sites, store_of(project.root))
    found = lint(_absolute(files), root=project.root, catalogue=catalogue, earlier=earlier_packages(project.root))
    if against:
        return _compare(project, found, catalogue, against, as_json=as_json)
    said = _stated(project, found, references, strict=strict)
    if as_sarif:
        click.echo(sarif(said))
    elif as_json:
        page.say(document.statement(said))
    else:
        page.show(lint_report(said, notes=notes))
    return said.decision.exit_code


def _stated(project: Project, found: Lint, references: References, *, strict: bool) -> Statement:
    """Return the statement of what was read, by the checks that ask for nothing else."""
    pointers = reference_facts(references, read_moved(references), project.root)
    record = Record(
        kind=Kind.PROJECT,
        subject="these files",
        facts=ordered((*facts(found, project.root), *pointers)),
        vocabulary=project.vocabulary,
    )
    case = Case(records={SUBJECT: record}, as_of=today())
    known = {fact.name for fact in record.facts}
    checks = tuple(check for check in project.checks if _asks_for(check) <= known)
    return stated(project, case, title="these files", status="as text", strict=strict, checks=checks)


def _pointers(project: Project, references: References, target: Path, *, as_json: bool) -> int:
    """List who points where in a document, for whoever is about to renumber it."""
    rows = [
        {
            "path": shown(one.path, project.root),
            "line": one.line,
            "text": one.text,
            "section": one.section,
            "anchor": one.anchor,
        }
        for one in sorted(references.read, key=lambda one: (one.path, one.line))
        if one.target == target
    ]
    if as_json:
        page.say({"document": shown(target, project.root), "references": rows})
    else:
        told = dict.fromkeys(f"{row['path']}:{row['line']}: {row['text']}" for row in rows)
        count = f"{_counted(len(told), 'reference')} to {shown(target, project.root)}"
        count += f" in {_counted(references.documents, 'document')} and in code"
        for said in (*told, count):
            click.echo(said)
    return 0


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _asks_for(check: Check) -> set[str]:
    return {need.name if need.role == SUBJECT else str(need) for need in map(Need.parse, check.reads)}


def _compare(project: Project, found: Lint, catalogue: Catalogue, against: str, *, as_json: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="affidavit-") as scratch:
        sites = fetch(against, Path(scratch))
        other = Catalogue((*sites, *catalogue.sites), store_of(project.root))
        rows = differences(found.requests, catalogue, other)
    told = [
        Change(
            place=f"{shown(row.path, project.root)}:{row.line}",
            name=f"{short(row.callee)}({row.name}=)",
            kind=row.kind,
            said=row.said,
            breaks=row.breaks,
        )
        for row in rows
    ]
    if as_json:
        page.say({"against": against, "differences": [asdict(change) for change in told]})
    else:
        page.show(upgrade_report(told, against=against))
    return 1 if any(row.breaks for row in rows) else 0


def _absolute(files: Files) -> Files:
    return Files(
        scripts=tuple(path.resolve() for path in files.scripts),
        configs=tuple(path.resolve() for path in files.configs),
        launchers=tuple(path.resolve() for path in files.launchers),
        recipes=tuple(path.resolve() for path in files.recipes),
        named=frozenset(path.resolve() for path in files.named),
    )


def _python(named: str) -> Path:
    """Return the Python whose packages count: the one that was named, that of the active environment, ours."""
    if named:
        found = shutil.which(named)
        if found is None:
            raise LintError(_no_python(named))
        return Path(found)
    active = os.environ.get("VIRTUAL_ENV", "")
    inside = Path(active, "bin", "python")
    if active and inside.exists():
        return inside
    return Path(shutil.which("python") or shutil.which("python3") or sys.executable)


def _no_python(named: str) -> str:
    return refusal(
        subject="lint",
        expected="a Python (--python)",
        saw=f"no program {named!r}",
        means="Nothing was read.",
        action=f'Run "command -v {named}".',
        unaffected="everything; nothing was written",
    )


def _no_document(refs: Path) -> str:
    return refusal(
        subject="lint",
        expected="a document (--refs)",
        saw=f"a folder at {refs}" if refs.is_dir() else f"nothing at {refs}",
        means="Nobody can say who points into it.",
        action=f"Run \"git ls-files '*{refs.name or '.md'}'\".",
        unaffected="everything; nothing was written",
    )


def _nothing_to_read(paths: tuple[Path, ...]) -> str:
    return refusal(
        subject="lint",
        expected="scripts, configs or launchers (*.py, *.yaml, *.json, *.toml, *.sh)",
        saw=f"none in {', '.join(map(str, paths)) or Path.cwd()}",
        means="Nothing was judged, and that is no pass.",
        action='Name a file: "affidavit lint train.py".',
        unaffected="everything; nothing was written",
    )
