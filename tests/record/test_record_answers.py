"""An answer is a line that is never edited; it holds for a time, of certain bytes, and a bent line answers nothing."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import msgspec
import pytest

from affidavit.record import answers, lines
from affidavit.record.answers import Answer, Answers

DATA = {"data.txt": "a" * 64}


def said(answer: str, *, day: int = 1, question: str = "Is it good?") -> Answer:
    return Answer(
        question=question,
        answer="yes" if answer == "yes" else "no",
        author="ada",
        time=datetime.datetime(2026, 11, day, 9, 30, tzinfo=datetime.UTC),
        until=datetime.date(2026, 11, day + 10),
        about=DATA,
        words="looked at 40 \udcff",
    )


def test_the_last_answer_to_a_question_counts(tmp_path: Path) -> None:
    path = tmp_path / "attestations.jsonl"
    assert answers.read(path) == Answers()
    lines.append(path, [said("no")])
    lines.append(path, [said("yes", day=2), said("no", question="Another?")])
    held = answers.read(path)
    assert [one.answer for one in held.given] == ["no", "yes", "no"] and held.problems == ()
    today = datetime.date(2026, 11, 3)
    last = held.last("Is it good?", today)
    assert last is not None and (last.answer, last.time.day) == ("yes", 2) and held.last("never asked", today) is None
    lines.append(path, [said("no", day=9)])
    to_come = answers.read(path)
    assert to_come.last("Is it good?", today) == last, "an answer of a day that has not come hides none that is true"
    alone = to_come.last("Is it good?", datetime.date(2026, 10, 1))
    assert alone is not None and alone.time.day == 9, "where none is true, the last is told, and doubted"


@pytest.mark.guards("affidavit.record.answers:Answer.doubt", property="an answer holds for its time and its bytes")
def test_an_answer_holds_until_its_day_and_of_what_was_looked_at() -> None:
    one = said("yes")
    assert one.doubt(DATA, as_of=datetime.date(2026, 11, 11), days=10) == ""
    assert one.doubt(DATA, as_of=datetime.date(2026, 11, 12), days=10) == "it held until 2026-11-11"
    assert one.doubt({"data.txt": "b" * 64}, as_of=datetime.date(2026, 11, 1), days=10) == "changed since: data.txt"
    assert one.doubt(DATA, as_of=datetime.date(2026, 10, 30), days=10) == "dated 2026-11-01, which is not yet"
    assert one.doubt(DATA, as_of=datetime.date(2026, 11, 5), days=3) == "it held until 2026-11-04"
    assert one.doubt(DATA, as_of=datetime.date(2026, 11, 12), days=90) == "it held until 2026-11-11", "nor longer"
    unread = {"data.txt": "unreadable: gone"}
    assert one.doubt(unread, as_of=datetime.date(2026, 11, 1), days=10) == "data.txt cannot be read: gone"
    more = {**DATA, **dict.fromkeys("wxyz", "c" * 64)}
    assert one.doubt(more, as_of=datetime.date(2026, 11, 1), days=10) == "changed since: w, x, y …"
    three = {**DATA, **dict.fromkeys("xyz", "c" * 64)}
    assert one.doubt(three, as_of=datetime.date(2026, 11, 1), days=10) == "changed since: x, y, z"


def test_no_answer_holds_longer_than_its_question_lets_it_nor_from_a_day_to_come() -> None:
    far = msgspec.structs.replace(said("yes"), until=datetime.date.max)
    assert far.holds_until(10) == datetime.date(2026, 11, 11)
    assert far.doubt(DATA, as_of=datetime.date(2026, 11, 12), days=10) == "it held until 2026-11-11"
    later = msgspec.structs.replace(far, time=datetime.datetime.max.replace(tzinfo=datetime.UTC))
    assert later.doubt(DATA, as_of=datetime.date(2026, 11, 1), days=10) == "dated 9999-12-31, which is not yet"
    assert later.holds_until(10) == datetime.date.max


@pytest.mark.parametrize("line", [b"{}", b"[]", b"7", b'{"answer":"maybe"}', b"\xff", b"{" * 9000, b'{"a":NaN}'])
def test_a_bent_line_is_told_and_the_others_stand(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "attestations.jsonl"
    lines.append(path, [said("yes")])
    with path.open("ab") as file:
        file.write(line + b"\n")
    lines.append(path, [said("no")])
    held = answers.read(path)
    assert [one.answer for one in held.given] == ["yes", "no"]
    assert len(held.problems) == 1 and held.problems[0].startswith("attestations.jsonl:2: ")


def test_nothing_to_add_makes_no_file(tmp_path: Path) -> None:
    lines.append(tmp_path / "none", [])
    assert not (tmp_path / "none").exists()


def _make(path: Path, kind: str) -> None:
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.parent / "no folder" / "elsewhere")


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("a folder", "Is a directory"),
        ("a pipe", "no plain file"),
        ("a link that leads nowhere", "No such file or directory"),
    ],
)
def test_what_is_no_plain_file_is_neither_waited_for_nor_written(tmp_path: Path, kind: str, why: str) -> None:
    path = tmp_path / "attestations.jsonl"
    _make(path, kind)
    for attempt in (lambda: lines.append(path, [said("yes")]), lambda: lines.refuse_unwritable(path)):
        with pytest.raises(lines.UnwritableError) as caught:
            attempt()
        assert str(caught.value).startswith("attestations.jsonl: expected a plain file") and why in str(caught.value)
        assert caught.value.strerror == why and "Not affected: " in str(caught.value)
    problems = answers.read(path).problems
    assert problems == (() if "link" in kind else (f"attestations.jsonl: {why}",))


def test_what_could_be_written_is_not_made_by_asking(tmp_path: Path) -> None:
    path = tmp_path / "attestations.jsonl"
    lines.refuse_unwritable(path)
    assert not path.exists()
    lines.append(path, [said("yes")])
    before = path.read_bytes()
    lines.refuse_unwritable(path)
    assert path.read_bytes() == before
