"""What mends an old number: in the form of its place, with its id where that is read, and nothing wrong."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from affidavit.claims.fix import mends
from affidavit.claims.survey import Survey, survey
from affidavit.record.measurement import Measurement, Measurements, Supersession

DAY = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
ID = "encode-cache-rebuild"


def known(*lines: tuple[str, float, str, int]) -> Measurements:
    """Return measurements of a name, a value, a unit and a day each."""
    return Measurements(
        measured=tuple(
            Measurement(
                name=name, value=value, unit=unit, date=DAY + datetime.timedelta(days=day), device={"gpu": "H200"}
            )
            for name, value, unit, day in lines
        )
    )


KNOWN = known((ID, 4.3, "h", 0), (ID, 145.5, "s", 1))
SAID = "Rebuilding the encode cache takes {}.\n"


def surveyed(path: Path, raw: bytes, measurements: Measurements = KNOWN) -> Survey:
    path.write_bytes(raw)
    return survey([path], measurements, path.parent)


def mended(path: Path, text: str, measurements: Measurements = KNOWN) -> str:
    """Return what a file would become."""
    (*_, last) = ("", *(one.after for one in mends(surveyed(path, text.encode(), measurements).mendable)))
    return last or text


def test_every_copy_of_a_file_is_bound_however_many_there_are(tmp_path: Path) -> None:
    many = 300
    text = mended(tmp_path / "a.md", f"{SAID.format('4.3 h')}\n" * many)
    assert text == f"{SAID.format(f'[145.5 s](claim:{ID})')}\n" * many


@pytest.mark.parametrize(
    ("name", "line", "after"),
    [
        ("a.sh", "# rebuild the encode cache: 4.3 h", f"# rebuild the encode cache: 145.5 s (claim: {ID})"),
        ("a.md", "[Rebuild the encode cache: 4.3 h](x.md)", "[Rebuild the encode cache: 145.5 s](x.md)"),
        ("a.md", "`rebuild_encode_cache  # 4.3 h`", "`rebuild_encode_cache  # 145.5 s`"),
        ("a.txt", "Rebuild the encode cache: 4.3 h", "Rebuild the encode cache: 145.5 s"),
        ("a.sh", 'echo "rebuild the encode cache: 4.3 h"', 'echo "rebuild the encode cache: 145.5 s"'),
    ],
    ids=["comment", "in a link", "in code", "plain text", "in a string"],
)
def test_a_number_is_bound_where_its_id_is_read(tmp_path: Path, name: str, line: str, after: str) -> None:
    # A second copy stands beside it: what cannot be bound does not keep the other from it.
    assert mended(tmp_path / name, f"{line}\n\n{line}\n") == f"{after}\n\n{after}\n"


@pytest.mark.parametrize("written", ["4.3-5 h", "4 to 4.3 hours", "4.3–4.4 h"])
def test_an_end_of_a_range_is_told_whole_and_mended_by_a_person(tmp_path: Path, written: str) -> None:
    found = surveyed(tmp_path / "a.md", SAID.format(written).encode())
    assert found.copies and all(f'"{written}"' in word.said and not word.edits for word in found.copies)


@pytest.mark.parametrize("before", [*range(4)])
def test_a_long_line_of_any_script_is_mended_at_the_very_place(tmp_path: Path, before: int) -> None:
    head, tail = "x" * before + "é" * 1500, "é" * 1500
    text = f"{head} rebuild of the encode cache 4.3 h, {'é' * 160} again 4.3 h {tail}"
    found = surveyed(tmp_path / "a.txt", text.encode())
    assert [word.line for word in found.mendable] == [1, 1]
    assert [one.after for one in mends(found.mendable)] == [text.replace("4.3 h", "145.5 s")]


def test_a_number_that_is_cut_where_a_part_of_a_line_begins_is_no_other_one(tmp_path: Path) -> None:
    words = "rebuild of the encode cache"
    for shift in range(-6, 6):
        gap = "x" * (400 - len(f" {words} 7 h") + shift)
        text = f"{'y' * 3000} {words} 14.3 h {gap} {words} 7 h {'z' * 3000}"
        found = surveyed(tmp_path / "a.txt", text.encode())
        assert not found.copies and not found.loose


def test_a_taken_back_set_waits_for_a_person_where_nothing_took_its_place(tmp_path: Path) -> None:
    back = Supersession(claims=(ID,), why="another seat", date=DAY + datetime.timedelta(days=2))
    found = surveyed(
        tmp_path / "a.md",
        SAID.format("4.3 h").encode(),
        Measurements(measured=KNOWN.measured, supersessions=(back,)),
    )
    assert [(word.said, word.edits) for word in found.copies] == [('"4.3 h" was taken back: another seat', ())]


HOURS = known((ID, 4.3, "h", 0))
BACK = Supersession(claims=("old-rebuild",), by=ID, why="a guess", date=DAY + datetime.timedelta(days=2))
GUESSED = Measurements(
    measured=known(("old-rebuild", 4.3, "h", 0), (ID, 145.5, "s", 1)).measured, supersessions=(BACK,)
)
COUNTED = known(("rows-read", 38000, "", 0))
SIGNED = known(("accuracy-change", -2.5, "pp", 0), ("score-change", -2.5, "", 0))


@pytest.mark.parametrize(
    ("line", "after", "measurements"),
    [
        (f"LIMIT = 2.0  # min, claim: {ID}", f"LIMIT = 2.4  # min, claim: {ID}", KNOWN),
        (f"LIMIT = 4.3  # h, claim: {ID}", f"LIMIT = 0.04042  # h, claim: {ID}", KNOWN),
        (f"limit_ms = 9_000  # claim: {ID}", f"limit_ms = 145_500  # claim: {ID}", KNOWN),
        (f"limit_ms = 9e3  # claim: {ID}", f"limit_ms = 145500  # claim: {ID}", KNOWN),
        (f"limit_hours = 9  # claim: {ID}", f"limit_hours = 4.3  # claim: {ID}", HOURS),
        ("LIMIT = 4.3  # claim: old-rebuild", f"LIMIT = 0.04042  # claim: {ID}", GUESSED),
        ("rows = 1e4  # claim: rows-read", "rows = 38000  # claim: rows-read", COUNTED),
        ("rows = 9_000  # claim: rows-read", "rows = 38_000  # claim: rows-read", COUNTED),
        ("change = -3.1  # claim: score-change", "change = -2.5  # claim: score-change", SIGNED),
        ("change = 3.1  # claim: score-change", "change = -2.5  # claim: score-change", SIGNED),
        ("# −3.1 pp, claim: accuracy-change", "# -2.5 pp, claim: accuracy-change", SIGNED),
        # In which unit the first of two measurements was said, nobody can know.
        (f"LIMIT = 200  # claim: {ID}", f"LIMIT = 200  # claim: {ID}", KNOWN),
        # These are right as they are.
        (f"limit_ms = 145_500  # claim: {ID}", f"limit_ms = 145_500  # claim: {ID}", KNOWN),
        (f"LIMIT = 2.4  # min, claim: {ID}", f"LIMIT = 2.4  # min, claim: {ID}", KNOWN),
        ("change = -2.5  # claim: score-change", "change = -2.5  # claim: score-change", SIGNED),
    ],
)
def test_a_number_in_a_program_is_mended_in_its_own_unit(
    tmp_path: Path, line: str, after: str, measurements: Measurements
) -> None:
    assert mended(tmp_path / "a.py", f"{line}\n", measurements) == f"{after}\n"
    (tmp_path / "a.py").write_text(f"{after}\n")
    is_right = line == after and "200" not in line
    assert bool(surveyed(tmp_path / "a.py", f"{line}\n".encode(), measurements).judged.unbound) != is_right


def test_an_id_that_is_typed_into_a_docstring_is_held(tmp_path: Path) -> None:
    text = f'"""It takes [9 s](claim:{ID}), and 9 s (claim: {ID}), unlike [9 s](claim:an-example)."""\n'
    assert mended(tmp_path / "a.py", text) == text.replace("9 s", "146 s", 2)
