"""Who decided a value: the request that named it, a default, an environment, a file, or nobody that anyone saw."""

from __future__ import annotations

from dataclasses import replace

from affidavit.fact.observation import Known
from affidavit.fact.term import UNSTATED, Method
from affidavit.fact.values import Table
from affidavit.record.record import Fact, Record, by_name

OWNERS = "run.owners"
RAN = "what ran decided it"
OPEN = "the script's own code or a default in it"
ASKED = "asked for by"
"""Begins what is said of a result that follows a request of another name."""
UNSEEN = (RAN, OPEN)
"""What is said where nobody saw who decided: the fact alone is known."""


def is_requested(record: Record, name: str) -> bool:
    """Say whether somebody asked for a fact, in its own request or in the term that holds what was asked for it."""
    facts = by_name(record)
    asked = facts.get(record.vocabulary[name].asked_by, ())
    named = (fact.state.value for fact in asked if isinstance(fact.state, Known))
    return any(fact.request is not None for fact in facts.get(name, ())) or any(value != UNSTATED for value in named)


def owner(record: Record, fact: Fact) -> str:
    """Return who decided a value that no request named; what follows a request has the owner of that.

    Blind to: a default that was typed into a file which a parser read; it looks like one that nobody typed.
    """
    term = record.vocabulary[fact.name]
    said = _told(record, fact) or _open(record, fact, term.asked_by) or _leading(record, fact)
    return said or (RAN if term.least is Method.EXECUTED else OPEN)


def asked_for(record: Record, fact: Fact) -> str:
    """Return the source of the request for a fact, or nothing where nobody made one."""
    if fact.request is not None:
        return fact.request.source
    asked = _same_rank(record, fact, record.vocabulary[fact.name].asked_by)
    return next((one.source for one in asked if one.value != UNSTATED), "")


def _told(record: Record, fact: Fact) -> str:
    """Return what the adapters said of a fact's owner."""
    for known in _same_rank(record, fact, OWNERS):
        if isinstance(known.value, Table):
            for row in known.value.records():
                if row["fact"] == fact.name:
                    return str(row["owner"])
    return ""


def _open(record: Record, fact: Fact, request: str) -> str:
    """Return the words of a request that nobody made."""
    sources = (one.source for one in _same_rank(record, fact, request) if one.value == UNSTATED)
    return next((f"nobody asked: {source}" for source in sources), "")


def _leading(record: Record, fact: Fact) -> str:
    """Return who decided the nearest fact that this one follows, where that is a request or was asked for by one."""
    words = record.vocabulary
    nearest = next(iter(words[fact.name].follows), "")
    if nearest not in words:
        return ""
    request = nearest if words[nearest].least is Method.DECLARED else words[nearest].asked_by
    if not request:
        return ""
    asked = next((one.source for one in _same_rank(record, fact, request) if one.value != UNSTATED), "")
    return f"{ASKED} {asked}" if asked else _told(record, replace(fact, name=nearest)) or _open(record, fact, request)


def _same_rank(record: Record, fact: Fact, name: str) -> tuple[Known, ...]:
    """Return what is known of another term where this fact was seen."""
    if not name or name not in record.vocabulary:
        return ()
    found = record.find(name, episode=fact.episode)
    here = (one for one in found if not fact.ranks or not one.ranks or set(fact.ranks) & set(one.ranks))
    return tuple(one.state for one in here if isinstance(one.state, Known))
