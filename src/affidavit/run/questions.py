"""Questions that only a person can answer: which were answered, by whom, and whether that still holds.

Source: playbook §4.8. Blind to: what of the files changed; any change of theirs is asked about again.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit.attach.redact import redact
from affidavit.fact import folder as names
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Table
from affidavit.gate import Attestation
from affidavit.record import answers
from affidavit.record.answers import Answer
from affidavit.record.compare import display
from affidavit.record.declared import Question
from affidavit.record.ledger import unreadable
from affidavit.record.record import Fact
from affidavit.run.proofs import files
from affidavit.settings import Settings

ATTESTED = "attestations.answers"
COLUMNS = ("question", "answer", "words", "author", "date", "until", "why")
STATED = "stated"
"""The answer of a word for a term: what was said of it stands in the words."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question, the last word on it, and why that does not hold; "" where it does."""

    question: Question
    about: Mapping[str, str]
    said: Answer | None
    why: str

    @property
    def can_be_asked(self) -> bool:
        """Whether there is something to look at, and its bytes can be kept with the answer."""
        return bool(self.about) and not unreadable(self.about)

    @property
    def attestation(self) -> Attestation | None:
        """A person's word as every other: what was said, by whom, of what, and until when."""
        if self.said is None:
            return None
        return Attestation(
            question=self.said.question,
            value=self.said.answer == "yes",
            author=self.said.author,
            seen=", ".join(self.said.about),
            until=self.said.holds_until(self.question.days),
            words=self.said.words,
        )


def asked(settings: Settings, as_of: datetime.date) -> tuple[tuple[Asked, ...], tuple[str, ...]]:
    """Return every question of a project as it stands today, and what could not be read of the answers."""
    held = answers.read(settings.root / names.ATTESTATIONS)
    return tuple(_asked(question, settings.root, held, as_of) for question in settings.questions), held.problems


def _asked(question: Question, root: Path, held: answers.Answers, as_of: datetime.date) -> Asked:
    about = files.digests(root, files.matching(root, question.about))
    said = held.last(question.question, as_of)
    if not about:
        why = f"nothing is there to look at: {', '.join(question.about)}"
    else:
        never = unreadable(about) or "not attested"
        why = never if said is None else said.doubt(about, as_of=as_of, days=question.days)
    return Asked(question=question, about=about, said=said, why=why)


def answered(one: Asked, *, yes: bool, words: str, author: str, time: datetime.datetime) -> Answer:
    """Return the line that keeps a person's answer; a secret that was typed into it is not kept."""
    return Answer(
        question=one.question.question,
        answer="yes" if yes else "no",
        author=author,
        time=time,
        until=time.date() + datetime.timedelta(days=one.question.days),
        about=dict(one.about),
        words=redact(words),
    )


def attested_fact(settings: Settings, as_of: datetime.date) -> Fact:
    """Return the fact that says what people have attested: answers to questions, and words for terms."""
    found, problems = asked(settings, as_of)
    rows = [_row(one) for one in found]
    rows += [
        (one.term, STATED, display(one.value), one.author, "", str(one.until), "")
        for one in settings.attestations
        if one.holds(as_of)
    ]
    source = "; ".join((names.ATTESTATIONS, *problems[:1]))
    return Fact(name=ATTESTED, state=Known(Table(COLUMNS, tuple(rows)), Method.INSPECTED, source))


def _row(one: Asked) -> tuple[str, str, str, str, str, str, str]:
    said = one.attestation
    if said is None or one.said is None:
        return one.question.question, "", "", "", "", "", one.why
    answer = "yes" if said.value else "no"
    return one.question.question, answer, said.words, said.author, str(one.said.time.date()), str(said.until), one.why
