"""Whose word stands: claims of several places add up, and one that stands alone is no question of owners."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from spoken import Voice

from affidavit.attach.claim import Claim, Claimed
from affidavit.attach.moment import Equipped, StepBegin, Unheard
from affidavit.fact.observation import Aspect, Cause, Unknown
from affidavit.instruments.requests import ConfigOwners

ENVIRONMENT = Claim("environment: X", "4", typed=True)
ARGUMENTS = Claim("Arguments, default of x", "1", typed=False)
FILE = Claim("a file: x", "2", typed=True, term="batch.accumulation")


def _told(*moments: Any) -> list[dict[str, Any]]:
    voice = Voice(ConfigOwners())
    hear = {Claimed: "claimed", Equipped: "equipped", Unheard: "unheard"}
    for moment in moments:
        getattr(voice.instrument, hear[type(moment)])(moment, voice.emit)
    voice.instrument.report(StepBegin(step=2), voice.emit)  # type: ignore[attr-defined]
    return list(voice.known("config.owners").records())


def test_each_place_and_the_live_value_are_told() -> None:
    assert _told(Claimed(subject="x", claims=(ENVIRONMENT, ARGUMENTS), live="1")) == [
        {"value": "x", "owner": "environment: X", "asked": "4", "by": "person", "live": "1", "won": False, "term": ""},
        {
            "value": "x",
            "owner": "Arguments, default of x",
            "asked": "1",
            "by": "default",
            "live": "1",
            "won": True,
            "term": "",
        },
    ]


def test_one_place_alone_is_not_told() -> None:
    assert _told() == []
    assert _told(Claimed(subject="x", claims=(ENVIRONMENT,), live="1")) == []
    twice = Claimed(subject="x", claims=(ENVIRONMENT,), live="1")
    assert _told(twice, twice) == []


def test_claims_of_several_adapters_add_up_and_the_last_live_value_stands() -> None:
    first = Claimed(subject="x", claims=(ENVIRONMENT,), live="1")
    rows = _told(first, Claimed(subject="x", claims=(FILE,), live="2"), Claimed(subject="x", claims=(), live=""))
    assert [(row["owner"], row["live"], row["won"]) for row in rows] == [
        ("environment: X", "2", False),
        ("a file: x", "2", True),
    ]
    assert rows[1]["term"] == "batch.accumulation"


def test_a_value_that_nobody_could_read_is_not_told() -> None:
    assert _told(Claimed(subject="x", claims=(ENVIRONMENT, FILE), live="")) == []


def test_the_loader_says_how_many_rows_there_are() -> None:
    loader = SimpleNamespace(batch_sampler=None, batch_size=4)
    claims = (Claim("a file", "8", typed=True), Claim("Arguments", "4", typed=True))
    rows = _told(
        Claimed(subject="rows a micro-batch", claims=claims, live="8"),
        Equipped(kind="loader", item=loader, source="a loop"),
        Equipped(kind="scheduler", item=None, source="a loop"),
    )
    assert [(row["asked"], row["won"]) for row in rows] == [("8", False), ("4", True)]


def test_an_adapter_that_could_not_look_leaves_it_unknown() -> None:
    voice = Voice(ConfigOwners())
    instrument = voice.instrument
    assert isinstance(instrument, ConfigOwners)
    instrument.unheard(Unheard(subject="precision", cause=Cause.INSTRUMENT_FAILED, why="other"), voice.emit)
    assert voice.said == []
    instrument.unheard(Unheard(subject="config.owners", cause=Cause.INSTRUMENT_FAILED, why="it broke"), voice.emit)
    instrument.report(StepBegin(step=2), voice.emit)
    (said,) = voice.said
    assert said.aspect is Aspect.RESOLVED and said.state == Unknown(Cause.INSTRUMENT_FAILED, "it broke")
