"""A manifest gives back the record it was made of, reads without the plugin, and refuses what it cannot mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_world import FLASH, THEN, WORDS, document, fact, record

from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method, Scope, Term
from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value
from affidavit.record import canonical, manifest
from affidavit.record.manifest import Attempt, Manifest, ManifestError, Process, Status
from affidavit.record.record import Fact

EXECUTED = "attention.executed"


def reread(made: Manifest) -> Manifest:
    return manifest.decode(manifest.encode(made))


def test_a_record_comes_back_the_same() -> None:
    unknown = Fact(name="adapter.kind", state=Unknown(Cause.NOT_REACHED, "step 1"), ranks=(1,))
    whole = record(
        fact(EXECUTED, FLASH, ranks=(0, 1, 2, 5)),
        fact("adapter.targets", ("q",), ranks=(0,), request=("q", "v")),
        fact("code.commit", "abc", ranks=()),
        fact("tokens.rows_examined", 2**60, ranks=(0,), episode=1),
        unknown,
        world=6,
        episodes=2,
    )
    back = manifest.to_record(reread(document(whole)), WORDS)
    assert (back.facts, back.world, back.episodes, back.kind, back.subject) == (whole.facts, 6, 2, whole.kind, "run-1")


def test_it_reads_without_the_vocabulary_that_wrote_it() -> None:
    kl = Term("acme.reward_kl", float, "", Scope.RUN, Method.INSPECTED, "divergence from the reference")
    best = Term(
        "acme.reward_best", float, "", Scope.RUN, Method.INSPECTED, "the best", derived_from=("acme.reward_kl",)
    )
    words = WORDS.extended([kl, best], prefix="acme")
    held = Fact(name="acme.reward_best", state=Known(0.25, Method.INSPECTED, "the trainer"))
    whole = replace(record(held), vocabulary=words)
    back = manifest.to_record(reread(document(whole)))
    assert back.facts == whole.facts
    assert {term.name for term in back.vocabulary} == {"acme.reward_kl", "acme.reward_best"}
    assert back.vocabulary["acme.reward_best"] == best
    beside = manifest.to_record(reread(document(whole)), WORDS)
    assert EXECUTED in beside.vocabulary, "terms of today stand beside the embedded ones, so a check can ask for them"


_TEXTS = st.text(max_size=12)
_COUNTS = st.dictionaries(_TEXTS, st.integers(0, 2**70), max_size=4)
_VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    _TEXTS,
    st.lists(_TEXTS, max_size=4).map(tuple),
    st.binary(min_size=32, max_size=32).map(lambda raw: Digest("sha256", raw.hex())),
    st.builds(Tally.count, _TEXTS, _COUNTS),
    st.builds(
        lambda rows: Table(("a", "b", "c"), tuple(rows)), st.lists(st.tuples(_TEXTS, st.integers(), st.booleans()))
    ),
    st.builds(
        lambda ys: Series(tuple(range(len(ys))), tuple(ys), "loss"), st.lists(st.floats(allow_nan=False), max_size=5)
    ),
    st.builds(Layers.of, st.dictionaries(st.from_regex(r"[a-c](\.[0-9a-c]){0,3}", fullmatch=True), _TEXTS, max_size=6)),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(_VALUES)
def test_every_value_of_the_algebra_survives_the_bytes(value: Value) -> None:
    term = Term("acme.any", type(value), "", Scope.RUN, Method.INSPECTED, "anything")
    words = WORDS.extended([term], prefix="acme")
    held = Fact(name="acme.any", state=Known(value, Method.INSPECTED, "here"))
    whole = replace(record(held), vocabulary=words)
    (back,) = manifest.to_record(reread(document(whole))).facts
    assert back == held
    assert isinstance(back.state, Known) and type(back.state.value) is type(value)


def test_a_source_that_is_not_utf8_does_not_keep_a_run_from_being_sealed() -> None:
    odd = Fact(name="code.commit", state=Known("abc", Method.INSPECTED, "/data/\udcff.py"))
    (back,) = manifest.to_record(reread(document(record(odd))), WORDS).facts
    assert isinstance(back.state, Known) and back.state.source == "/data/\\udcff.py"


def bent(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the bytes of a good manifest after one change."""
    raw = json.loads(manifest.encode(document(record(fact(EXECUTED, FLASH), world=1))))
    change(raw)
    return json.dumps(raw).encode()


def test_the_unbent_manifest_is_good() -> None:
    assert manifest.decode(bent(lambda raw: None)).run == "run-1"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (bent(lambda raw: None)[:-40], "whole and unambiguous"),
        (b"", "whole and unambiguous"),
        (
            bent(lambda raw: None).replace(b'"run": "run-1"', b'"run": "run-1", "run": "run-2"'),
            'key "run" stands twice',
        ),
        (bent(lambda raw: None).replace(b'"step": 0', b'"step": NaN'), "NaN"),
        (bent(lambda raw: None).replace(b'"world": 1', b'"world": 9007199254740993'), "9007199254740993"),
        (bent(lambda raw: raw.update(format=2)), "format 1 .* saw 2"),
        (bent(lambda raw: raw.update(format=True, extra=1)), "unknown|format 1"),
        (bent(lambda raw: raw.pop("format")), "format 1 .* saw None"),
        (b"[1]", "format 1"),
        (bent(lambda raw: raw.update(surprise=1)), "unknown field `surprise`"),
        (bent(lambda raw: raw.pop("terms")), "missing required field `terms`"),
        (bent(lambda raw: raw.update(status="RUNNING")), "RUNNING"),
        (bent(lambda raw: raw.update(world=0)), "world"),
        (bent(lambda raw: raw.update(world=10**12)), "world"),
        (bent(lambda raw: raw["attempts"][0].update(started="2026-11-30T12:00:00")), "timezone"),
        (bent(lambda raw: raw["attempts"][0].update(status="FAILED")), "FAILED carries the exit code"),
        (bent(lambda raw: raw["attempts"][0].update(exit_code=3)), "FINISHED with exit code 3"),
        (b'"' + b"x" * 10_000_000 + b'"', "1,048,576 bytes at most"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_manifest_that_is_hostile_truncated_or_newer_is_one_clear_error(raw: bytes, why: str) -> None:
    with pytest.raises(ManifestError, match=why) as caught:
        manifest.decode(raw, source="runs/x/manifest.json")
    said = str(caught.value).splitlines()
    assert said[0].startswith("runs/x/manifest.json: expected ") and said[2].startswith("Not affected: ")
    assert len(str(caught.value)) < 800, "it shows the beginning of what was there, not all of it"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda raw: raw["terms"][0].update(type="str"), "a str when it was sealed, a Tally now"),
        (lambda raw: raw["terms"][0].update(type="os.system"), "os.system"),
        (lambda raw: raw["terms"][0].update(least="GUESSED"), "GUESSED"),
        (lambda raw: raw["terms"][0].update(name="No Name"), "No Name"),
        (lambda raw: raw["facts"][0].update(name="attention.exected"), "attention.exected"),
        (lambda raw: raw["facts"][0].update(ranks="0-3"), "outside this run"),
        (lambda raw: raw["facts"][0].update(ranks=""), "do not fit"),
        (lambda raw: raw["facts"][0].update(ranks="0-0"), "rising ranges"),
        (lambda raw: raw["facts"][0].update(episode=7), "outside this run"),
        (lambda raw: raw["facts"][0]["state"].update(value={"int": 3}), "expected a Tally, saw int"),
        (lambda raw: raw["facts"][0]["state"].update(value={"tally": {}}), "of, counts"),
        (lambda raw: raw["facts"][0]["state"].update(method="HEARSAY"), "HEARSAY"),
        (lambda raw: raw["facts"][0].update(request={"cause": "ABSENT", "why": ""}), "never unknown"),
    ],
)
def test_a_fact_or_term_that_means_nothing_is_refused(change: Callable[[dict[str, Any]], object], why: str) -> None:
    with pytest.raises(ManifestError, match=why):
        manifest.to_record(manifest.decode(bent(change)), WORDS)


def test_a_manifest_over_a_mebibyte_names_its_largest_facts() -> None:
    crowd = [fact("adapter.targets", ("x" * 8000,), ranks=(rank,)) for rank in range(140)]
    with pytest.raises(
        ManifestError, match=r"1,048,576 bytes at most, saw 1,\d+,\d+; the largest facts are adapter.targets"
    ):
        manifest.encode(document(record(*crowd, world=140)))


def test_a_thousand_ranks_that_agree_cost_one_line() -> None:
    one = manifest.encode(document(record(fact(EXECUTED, FLASH, ranks=(0,)), world=1024)))
    all_of_them = manifest.encode(document(record(fact(EXECUTED, FLASH, ranks=tuple(range(1024))), world=1024)))
    assert len(all_of_them) - len(one) < 10


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ({"status": Status.FINISHED, "exit_code": 0}, "FINISHED"),
        ({"status": Status.FAILED, "exit_code": 3}, "FAILED (exit code 3)"),
        ({"status": Status.KILLED, "signal": 9}, "KILLED (signal 9, SIGKILL)"),
        ({"status": Status.OOM, "signal": 9}, "OOM (signal 9, SIGKILL)"),
        ({"status": Status.ABANDONED}, "ABANDONED"),
    ],
)
def test_an_attempt_says_how_it_ended(ending: dict[str, Any], said: str) -> None:
    process = Process(identity="host-1-1", host="host", pid=1, rank=0, world=1, last_step=7, closed="exited")
    attempt = Attempt(number=0, command=("python",), started=THEN, ended=THEN, processes=(process,), **ending)
    made = manifest.from_record(record(), affidavit="0.1.0", status=attempt.status, attempts=(attempt,))
    assert reread(made).ending == said
    assert reread(made).attempts == (attempt,)


def test_the_bytes_are_canonical() -> None:
    raw = manifest.encode(document(record(fact(EXECUTED, FLASH))))
    assert canonical.encode(canonical.parse(raw)) == raw
