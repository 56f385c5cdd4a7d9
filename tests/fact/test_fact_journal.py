"""A journal is read as far as it goes: what is torn, hostile or newer is said, and never repaired or believed."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from affidavit.fact import folder
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.journal import LINE_BYTES, Episode, Journal, JournalError, read
from affidavit.fact.observation import (
    Aspect,
    Cause,
    Known,
    Observation,
    Unknown,
    observation_from_json,
    observation_to_json,
    state_from_json,
    state_to_json,
)
from affidavit.fact.term import Method
from affidavit.fact.values import Tally, ValueShapeError

SEEN = Observation(
    "attention.executed", Aspect.RESOLVED, Known(Tally.count("calls", {"flash": 4}), Method.EXECUTED, "x"), 1, 2
)
MISSED = Observation("attention.kernels", Aspect.RESOLVED, Unknown(Cause.PROFILER_BUSY, "theirs ran"))


def written(path: Path) -> Journal:
    journal = Journal(path, process="host-1-1", details={"attempt": 1, "emits": ["attention.executed"]})
    journal.write("bound", rank=1, world=2, backend="gloo")
    journal.write("episode", number=0, driver="Trainer")
    journal.observe(SEEN)
    return journal


def test_everything_that_was_written_is_read(tmp_path: Path) -> None:
    journal = written(tmp_path / "j")
    journal.write("episode", number=0, driver="Trainer", ended="returned")
    journal.observe(MISSED)
    journal.write("live", step=2)
    journal.write("note", text="two hooks")
    journal.close("exited")
    reading = read(tmp_path / "j")
    assert reading.observations == [SEEN, MISSED]
    assert (reading.process, reading.attempt, reading.rank, reading.world) == ("host-1-1", 1, 1, 2)
    assert reading.episodes == [Episode(0, "Trainer", "returned")]
    assert (reading.live_step, reading.notes, reading.closed) == (2, ["two hooks"], "exited")
    assert reading.emits == ("attention.executed",)
    assert (reading.torn, reading.unreadable, reading.lost) == (False, [], "")


def test_a_line_is_on_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    journal = written(tmp_path / "j")
    assert read(tmp_path / "j").observations == [SEEN]
    journal.abandon()


def test_a_journal_is_never_written_over(tmp_path: Path) -> None:
    written(tmp_path / "j").abandon()
    before = (tmp_path / "j").read_bytes()
    second = written(tmp_path / "j")
    assert second.silenced.startswith("FileExistsError")
    assert (tmp_path / "j").read_bytes() == before


def test_a_disk_that_refuses_silences_the_journal_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = written(tmp_path / "j")
    calls: list[int] = []

    def full(*_: object) -> int:
        calls.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as bent:
        bent.setattr(os, "write", full)
        journal.observe(SEEN)
        journal.observe(SEEN)
    journal.observe(SEEN)
    assert "No space left" in journal.silenced and len(calls) == 1
    assert read(tmp_path / "j").observations == [SEEN]
    journal.abandon()


def test_a_removed_folder_silences_and_raises_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "gone" / "j", process="host-1-1", details={})
    journal.observe(SEEN)
    journal.close("exited")
    assert journal.silenced.startswith("FileNotFoundError")


def test_a_line_that_is_too_large_is_left_out_and_said(tmp_path: Path) -> None:
    journal = written(tmp_path / "j")
    journal.write("note", text="x" * LINE_BYTES)
    journal.abandon()
    (note,) = read(tmp_path / "j").notes
    assert note.startswith("a note line of 65,") or "was left out" in note


def test_every_prefix_of_a_journal_is_read_or_refused(tmp_path: Path) -> None:
    journal = written(tmp_path / "j")
    journal.close("exited")
    whole = (tmp_path / "j").read_bytes()
    cut = tmp_path / "cut"
    for length in range(len(whole) + 1):
        cut.write_bytes(whole[:length])
        try:
            reading = read(cut)
        except JournalError:
            assert b"\n" not in whole[:length], "only a journal without a whole first line is none"
            continue
        assert reading.torn is not whole[:length].endswith(b"\n")
        assert reading.unreadable == []
        assert reading.observations in ([], [SEEN])


_OPENED = json.dumps({"kind": "opened", "format": 1, "process": "host-1-1", "attempt": 0}).encode() + b"\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"not json\n",
        b'{"kind":"note","text":"x"}\n',
        b"[]\n",
        _OPENED.replace(b'"format": 1', b'"format": 2'),
        _OPENED.replace(b'"format": 1', b'"format": "1"'),
        _OPENED.replace(b'"attempt": 0', b'"attempt": -1'),
        _OPENED.replace(b'"attempt": 0', b'"attempt": 1e9'),
        _OPENED[:-1],
    ],
    ids=lambda raw: repr(raw)[:48],
)
def test_what_is_no_journal_or_a_newer_one_is_one_clear_error(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "j").write_bytes(raw)
    with pytest.raises(JournalError, match=r"^j: "):
        read(tmp_path / "j")


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"3",
        b"[" * 50_000,
        b'{"kind":"note","text":"' + b"x" * 10_000_000 + b'"}',
        b'{"kind":"bound","rank":"1","world":2}',
        b'{"kind":"bound","rank":2,"world":2}',
        b'{"kind":"bound","rank":0,"world":1000000000000}',
        b'{"kind":"episode","driver":"Trainer"}',
        b'{"kind":"episode","number":99999999,"driver":"Trainer"}',
        b'{"kind":"live"}',
        b'{"kind":"live","step":true}',
        b'{"kind":"observation"}',
        b'{"kind":"observation","term":"a.b","aspect":"guessed","state":{"cause":"ABSENT","why":""},"episode":0,"step":0}',
        b'{"kind":"observation","term":"a.b","aspect":"resolved","state":{"cause":"BORED","why":""},"episode":0,"step":0}',
        b'{"kind":"observation","term":"a.b","aspect":"resolved","state":3,"episode":0,"step":0}',
        b'{"kind":"observation","term":"a.b","aspect":"resolved","state":{"cause":"ABSENT","why":""},"episode":-1,"step":0}',
        b'{"kind":"observation","term":"a.b","aspect":"resolved","state":{"cause":"ABSENT","why":""},"episode":0,"step":"2"}',
    ],
    ids=lambda raw: repr(raw[:60]),
)
def test_a_hostile_line_is_told_by_its_number_and_the_others_stand(tmp_path: Path, line: bytes) -> None:
    journal = written(tmp_path / "j")
    with (tmp_path / "j").open("ab") as file:
        file.write(line + b"\n")
    journal.observe(MISSED)
    journal.abandon()
    reading = read(tmp_path / "j")
    assert reading.observations == [SEEN, MISSED]
    assert reading.unreadable == [5] and reading.lost == "line 5 is unreadable"
    assert (reading.rank, reading.world) == (1, 2)
    assert len("".join(reading.notes)) < 400


def test_a_kind_of_line_that_is_not_known_is_left_to_a_newer_reader(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(_OPENED + b'{"kind":"weather","sun":true}\n')
    assert read(tmp_path / "j").unreadable == []


@pytest.mark.parametrize("seen", [SEEN, MISSED])
def test_an_observation_comes_back_the_same(seen: Observation) -> None:
    assert observation_from_json(json.loads(json.dumps(observation_to_json(seen)))) == seen
    assert state_from_json(state_to_json(seen.state)) == seen.state


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"value": {"int": 1}, "method": "EXECUTED"},
        {"value": {"int": 1}, "method": "HEARSAY", "source": ""},
        {"value": {"int": 1}, "method": "EXECUTED", "source": 3},
        {"value": 1, "method": "EXECUTED", "source": ""},
        {"cause": "ABSENT", "why": None},
        {"cause": "ABSENT", "why": "", "value": {"int": 1}},
    ],
    ids=repr,
)
def test_a_state_is_a_value_or_a_cause_and_nothing_between(raw: dict[str, object]) -> None:
    with pytest.raises(ValueShapeError):
        state_from_json(raw)


def test_the_names_in_a_run_folder_sort_by_attempt_and_process(tmp_path: Path) -> None:
    for path in (
        folder.journal(tmp_path, "b", 0),
        folder.journal(tmp_path, "a", 0),
        folder.heartbeat(tmp_path, "a", 0),
    ):
        path.touch()
    assert [path.name for path in folder.journals(tmp_path)] == ["journal.0.a.jsonl", "journal.0.b.jsonl"]


def test_every_error_of_ours_has_one_shape_and_one_base() -> None:
    said = refusal(subject="a", expected="b", saw="c", means="D.", action="E.", unaffected="f")
    assert said == "a: expected b, saw c.\nD. E.\nNot affected: f."
    assert said == refusal(subject="a", expected="b", saw="c.", means="D.", action="E.", unaffected="f")
    assert issubclass(JournalError, AffidavitError) and issubclass(ValueShapeError, AffidavitError)
