"""``affidavit attest``: questions that only a person can answer, asked of one."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence

import click

from affidavit.cli import page
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here, today
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.observe.person import author_of
from affidavit.record import lines
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.questions import Asked, answered, asked

_SHOWN = 6


class NobodyThereError(AffidavitError):
    """There is no terminal, and a question that nobody reads is not to be answered."""


@click.command(short_help="Answer the questions that only a person can.", epilog=example("affidavit attest"))
@click.option("--again", is_flag=True, help="Ask those, too, whose answers still hold.")
@click.option("--list", "only_list", is_flag=True, help="Say how each stands, and ask nothing.")
@json_option
def command(again: bool, only_list: bool, as_json: bool) -> int:
    """Answer the questions of affidavit.toml ([[attest]]): each names the files to look at, and how long it holds.

    The answer, your name, the time and the digest of every file go into attestations.jsonl: commit it. When a file
    changes or the time is over, the question is open again. Exit code 1 where the answer is no, 4 where one is open.
    """
    project = here()
    if not (only_list or as_json):
        ask_open(project, again=again)
    found, problems = asked(project.settings, today())
    page.tell(problems)
    if not only_list:
        page.tell(f"not asked: {one.question.question} ({one.why})" for one in found if not one.can_be_asked)
    if as_json:
        page.say({"attestations": [_document(one) for one in found]})
    elif only_list or not found:
        page.show(_listed(found))
    refused = any(one.said is not None and one.said.answer == "no" and not one.why for one in found)
    return 1 if refused else 4 if any(one.why for one in found) else 0


def is_attended() -> bool:
    """Say whether a person is there to read a question and to answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_open(project: Project, *, again: bool = False) -> None:
    """Ask a person every open question, and keep what they answer; each answer is kept as soon as it is given.

    Raises:
        NobodyThereError: a question is open, and there is no terminal.
        UnwritableError: the answer could not be kept; nothing was asked, then.
    """
    found, _ = asked(project.settings, today())
    open_ = [one for one in found if one.can_be_asked and (one.why or again)]
    if open_ and not is_attended():
        raise NobodyThereError(
            refusal(
                subject="attestations",
                expected="a person at a terminal, who looks and answers",
                saw=f'none, and {len(open_)} open, the first "{open_[0].question.question}"',
                means="A question that nobody reads has no answer, so nothing was written.",
                action='Run "affidavit attest" at a terminal.',
                unaffected="the answers that are there",
            )
        )
    if not open_:
        return
    lines.refuse_unwritable(project.root / names.ATTESTATIONS)
    author = author_of(project.root)
    for one in open_:
        page.show(_question(one), sys.stderr)
        yes = click.prompt("  yes, no, or later", type=click.Choice(["yes", "no", "later"]), err=True)
        if yes == "later":
            continue
        words = click.prompt("  what you saw, in a few words", default="", show_default=False, err=True)
        said = answered(one, yes=yes == "yes", words=words.strip(), author=author, time=_now())
        lines.append(project.root / names.ATTESTATIONS, [said])


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def _question(one: Asked) -> Sequence[Line]:
    before = one.why if one.said is not None else ""
    shown = [*one.about][:_SHOWN]
    more = f" and {len(one.about) - _SHOWN} more" if len(one.about) > _SHOWN else ""
    return [
        line(Span(one.question.question, Tone.STRONG), Span(f"  {before}" if before else "", Tone.FAINT)),
        line(f"look at {', '.join(shown)}{more}; it holds for {one.question.days} days", indent=2),
    ]


def _listed(found: Sequence[Asked]) -> Sequence[Line]:
    if not found:
        return [line("affidavit.toml asks no question ([[attest]]).")]
    drawn: list[Line] = []
    for one in found:
        said = one.attestation
        mark = Span("?", Tone.DOUBT) if one.why else Span("✓", Tone.GOOD)
        if said is not None and not said.value and not one.why:
            mark = Span("✗", Tone.BAD)
        drawn.append(line(mark, " ", Span(one.question.question, Tone.STRONG)))
        who = f"{'yes' if said.value else 'no'}, {said.author}, until {said.until}" if said is not None else ""
        told = "; ".join(part for part in (who, said.words if said else "", one.why) if part)
        drawn.append(line(Span(told, Tone.FAINT), indent=4))
    return drawn


def _document(one: Asked) -> dict[str, object]:
    said = one.said
    return {
        "question": one.question.question,
        "answer": said.answer if said else None,
        "words": said.words if said else "",
        "author": said.author if said else "",
        "until": said.holds_until(one.question.days).isoformat() if said else None,
        "about": dict(one.about),
        "why": one.why,
    }
