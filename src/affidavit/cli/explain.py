"""``affidavit explain``: what a landmine is, what a check proves, what a term means, and when it was last proved."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator

import click

from affidavit.check.finding import Landmine
from affidavit.check.rule import Check
from affidavit.cli import page
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here, today
from affidavit.fact.errors import AffidavitError
from affidavit.fact.term import Term
from affidavit.lint.gates.rule import ALARM, Rule
from affidavit.lint.gates.rules import BY_ID
from affidavit.report.terminal import Line, Span, Tone, line

_INDENT = len("when last proved  ")


class NothingToExplainError(AffidavitError):
    """The name is neither a landmine nor a check nor a term nor a rule of lint."""


@click.command(
    short_help="Explain a check, a term, or a line of the report.",
    epilog=example("affidavit explain attention-as-requested"),
)
@click.argument("name", default="", metavar="[CHECK|TERM|4.1…4.7]")
@click.option("--checks", "list_checks", is_flag=True, help="List every check with its first sentence.")
@click.option("--terms", "list_terms", is_flag=True, help="List every term with its meaning.")
@json_option
def command(name: str, list_checks: bool, list_terms: bool, as_json: bool) -> int:
    """Explain a check or a term: its reason, its needs, the ways to break it, and when it was last proved.

    The number of a line of the report lists the checks behind it; without a name, every check is listed.
    """
    project = here()
    list_checks = list_checks or not (name or list_terms)
    landmine = next((landmine for landmine in Landmine if landmine.section == name), None)
    chosen = (check for check in project.checks if list_checks or check.id == name or check.landmine is landmine)
    checks = tuple(chosen)
    terms = tuple(term for term in project.vocabulary if list_terms or term.name == name)
    rule = BY_ID.get(name)
    if not (checks or terms or landmine or rule):
        raise NothingToExplainError(_nothing(project, name))
    if as_json:
        page.say(
            {
                "checks": [_check_document(project, check) for check in checks],
                "terms": [_term_document(project, term) for term in terms],
                **({"rules": [_rule_document(rule)]} if rule else {}),
            }
        )
    elif rule:
        page.show(_rule_lines(rule))
    elif landmine:
        page.show(_landmine(landmine, checks))
    elif name:
        page.show([row for check in checks for row in _check_lines(project, check)])
        page.show([row for term in terms for row in _term_lines(project, term)])
    else:
        page.show(_list(checks, terms))
    return 0


def _nothing(project: Project, name: str) -> str:
    names = [*(check.id for check in project.checks), *(term.name for term in project.vocabulary), *BY_ID]
    near = difflib.get_close_matches(name, names, 3)
    hint = f"near: {', '.join(near)}" if near else "nothing near"
    return (
        f'explain "{name}": expected a check, a term, a rule of lint, or a number from 4.1 to 4.7, saw {hint}.\n'
        'Nothing was explained. Run "affidavit explain --checks" or "affidavit explain --terms"; '
        'the names of rules stand in what "affidavit lint" says.\n'
        "Not affected: everything."
    )


def _rule_lines(rule: Rule) -> Iterator[Line]:
    """Yield what a rule of lint is about, with its shortest wrong and right form."""
    check = "alarms-can-say-dead" if rule.section == ALARM else "gates-can-say-no"
    yield line(Span(rule.id, Tone.STRONG), f"  {rule.section} a rule of {check}")
    yield line()
    yield line(rule.wrong)
    yield line()
    for about, text in (("wrong", rule.bad), ("right", rule.good)):
        for number, row in enumerate(text.expandtabs(4).rstrip("\n").split("\n")):
            yield line(row, head=Span(about if not number else "", Tone.FAINT), indent=_INDENT)
        yield line()
    yield from _rows(
        ("in words", rule.right),
        ("to excuse it", f"# affidavit: {rule.id} REASON, on its line or the one above"),
    )


def _rule_document(rule: Rule) -> dict[str, object]:
    return {
        "rule": rule.id,
        "section": rule.section,
        "wrong": rule.wrong,
        "right": rule.right,
        "bad": rule.bad,
        "good": rule.good,
    }


def _landmine(landmine: Landmine, checks: tuple[Check, ...]) -> Iterator[Line]:
    yield line(Span(f"{landmine.section} {landmine.title}", Tone.STRONG))
    yield line(landmine.story)
    yield line()
    if not checks:
        yield line(Span("no check of this version guards it", Tone.DOUBT))
    yield from _list(checks, ())


def _list(checks: tuple[Check, ...], terms: tuple[Term, ...]) -> Iterator[Line]:
    for check in checks:
        yield line(Span(check.id, Tone.STRONG), f"  {check.explanation.partition(chr(10))[0]}")
    for term in terms:
        yield line(Span(term.name, Tone.STRONG), f"  {term.meaning}")


def _check_lines(project: Project, check: Check) -> Iterator[Line]:
    yield line(Span(check.id, Tone.STRONG), f"  {check.landmine.section} {check.landmine.title}")
    for paragraph in inspect.cleandoc(check.explanation).split("\n\n"):
        yield line()
        yield line(" ".join(paragraph.split()))
    yield line()
    yield from _rows(
        ("needs", ", ".join(check.needs)),
        ("applies when", ", ".join(need for need, _ in check.when) or "always"),
        ("not affected", check.unaffected),
        ("sabotages", "; ".join(sabotage.name for sabotage in check.sabotages)),
        ("", "and, for each need: never seen, known too weakly, missing on a rank, no such record"),
        ("when last proved", _proved(project, check)),
        ("to waive it", f'[[waiver]] target = "{check.id}" in affidavit.toml, with reason, author, until'),
    )


def _proved(project: Project, check: Check) -> str:
    drill = project.ledger().last(check.id, today())
    if drill is None:
        return 'never; run "affidavit drill"'
    return f"{drill.date}: {drill.caught} of {drill.total} sabotages caught, {drill.run or 'on its own example'}"


def _term_lines(project: Project, term: Term) -> Iterator[Line]:
    yield line(Span(term.name, Tone.STRONG), f"  {term.meaning}")
    yield line()
    yield from _rows(
        ("type", f"{term.type.__name__}{f' of {term.unit}' if term.unit else ''}"),
        ("scope", f"{term.scope.value}, ranks {term.ranks.value}"),
        ("known at least", term.least.name.lower()),
        ("a difference", f"is of {term.category.value}" if term.category.value != "incidental" else "is incidental"),
        ("in the lock", "yes, where nobody requested it" if term.lock else "no"),
        ("carries over", "no: judged on the machine of the run" if term.seat else "yes"),
        ("derived from", ", ".join(term.derived_from) or "nothing"),
        ("moves with", ", ".join(term.follows) or "nothing"),
        ("read by", ", ".join(_readers(project, term)) or "no check"),
        ("since", term.since),
    )


def _rows(*rows: tuple[str, str]) -> Iterator[Line]:
    for about, said in rows:
        yield line(said, head=Span(about, Tone.FAINT), indent=_INDENT)


def _readers(project: Project, term: Term) -> list[str]:
    return [check.id for check in project.checks if term.name in {need.rpartition("/")[2] for need in check.reads}]


def _check_document(project: Project, check: Check) -> dict[str, object]:
    return {
        "check": check.id,
        "section": check.landmine.section,
        "explanation": inspect.cleandoc(check.explanation),
        "needs": list(check.needs),
        "when": [need for need, _ in check.when],
        "not_affected": check.unaffected,
        "sabotages": [sabotage.name for sabotage in check.sabotages],
        "last_proved": _proved(project, check),
    }


def _term_document(project: Project, term: Term) -> dict[str, object]:
    return {
        "term": term.name,
        "type": term.type.__name__,
        "unit": term.unit,
        "scope": term.scope.value,
        "least": term.least.name,
        "ranks": term.ranks.value,
        "category": term.category.value,
        "lock": term.lock,
        "seat": term.seat,
        "derived_from": list(term.derived_from),
        "follows": list(term.follows),
        "phrase": term.phrase,
        "since": term.since,
        "meaning": term.meaning,
        "read_by": _readers(project, term),
    }
