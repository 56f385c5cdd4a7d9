"""Claims against measurements: equal as far as they are rounded, in any unit; taken back, of other code."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from affidavit.claims.fix import diff, edited, mends, reason_against, write
from affidavit.claims.judged import Judged, age, judge
from affidavit.claims.sheet import Sheet, below, read_sheet, sheets
from affidavit.claims.superseded import declared, said_now, table
from affidavit.claims.wording import number
from affidavit.record.covered import cover
from affidavit.record.measurement import Measurement, Measurements, Supersession

DAY = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
ON = {"processor": "x"}
NOWHERE = Path("/none")


def _measured(name: str, value: float, unit: str = "s", day: int = 0, **more: object) -> Measurement:
    date = DAY + datetime.timedelta(days=day)
    known: dict[str, object] = {"device": ON, **more}
    return Measurement(name=name, value=value, unit=unit, date=date, **known)  # type: ignore[arg-type]


def _taken_back(*claims: str, day: int = 5, why: str = "a guess", **more: str) -> Supersession:
    return Supersession(claims=claims, why=why, date=DAY + datetime.timedelta(days=day), **more)


def _judged(
    text: str, *known: Measurement | Supersession, name: str = "README.md", root: Path = Path("/none")
) -> Judged:
    measured = tuple(one for one in known if isinstance(one, Measurement))
    back = tuple(one for one in known if isinstance(one, Supersession))
    return judge([Sheet(Path(name), text)], Measurements(measured=measured, supersessions=back), root)


REBUILD = _measured("rebuild-cache", 145.5)


@pytest.mark.parametrize(
    ("written", "value", "unit"),
    [
        ("145.5 s", 145.5, "s"),
        ("146 s", 145.6, "s"),
        ("~146 s", 145.5, "s"),
        ("2.4 min", 145.5, "s"),
        ("2m25.5s", 145.5, "s"),
        ("145,500 ms", 145.5, "s"),
        ("145.5", 145.5, "s"),
        ("8.6 %", 0.086, ""),
        ("8.6 %", 8.6, "%"),
        ("38,000", 38000.0, "names"),
        ("38,000 names", 38000.0, "names"),
        ("3,200 tok/s", 3199.6, "tokens/s"),
        ("36 MB", 35_500_001, "bytes"),
        ("0.9", 0.8512, ""),
    ],
)
def test_a_number_is_what_was_measured_as_far_as_it_is_rounded(written: str, value: float, unit: str) -> None:
    found = _judged(f"[{written}](claim:a-b)", _measured("a-b", value, unit))
    assert (found.unbound, len(found.held)) == ([], 1)


@pytest.mark.parametrize(
    ("written", "value", "unit", "mended"),
    [
        ("4.3 HOURS", 145.5, "s", "145.5 s"),
        ("~258 min", 145.5, "s", "~145.5 s"),
        ("92 s", 95.31, "s", "95 s"),
        ("3.50 min", 145.5, "s", "2.42 min"),
        ("15,480 s", 145.5, "s", "146 s"),
        ("145.4", 145.5, "s", "145.5"),
        ("145.50", 145.461, "s", "145.46"),
        ("145.50 s", 145.461, "s", "145.46 s"),
        ("3", 0.0412, "", "0.0412"),
        ("9,000", 38000.0, "names", "38,000"),
        ("10 %", 0.086, "", "8.6 %"),
        ("145.5 MB", 145.5, "s", "145.5 s"),
        ("5 names", 6.0, "names", "6 names"),
        ("2m20s", 145.5, "s", "146s"),
        ("$40", 50.0, "dollars", "50 dollars"),
    ],
)
def test_another_number_is_told_and_mended_in_the_unit_of_its_place(
    written: str, value: float, unit: str, mended: str
) -> None:
    text = f"It takes [{written}](claim:a-b) now."
    (word,) = _judged(text, _measured("a-b", value, unit)).unbound
    assert "was measured" in word.said
    assert edited(text, word.edits) == f"It takes [{mended}](claim:a-b) now."


def test_a_name_that_nothing_has_is_told_with_the_nearest() -> None:
    (word,) = _judged("[145.5 s](claim:rebuild-cach)", REBUILD).unbound
    assert word.said == 'no measurement is named "rebuild-cach"; did you mean "rebuild-cache"' and not word.edits
    assert not _judged("# The claim: it takes 3 s", REBUILD, name="a.py").held


def test_the_newest_measurement_stands() -> None:
    assert _judged("[90 s](claim:a-b)", _measured("a-b", 145.5), _measured("a-b", 90, day=1)).unbound == []


def test_what_was_taken_back_is_mended_to_its_successor_and_its_id_with_it() -> None:
    text = "# ~4.3 HOURS, claim: rebuild-guess\n"
    guess, back = _measured("rebuild-guess", 4.3, "h"), _taken_back("rebuild-guess", by="rebuild-cache")
    (word,) = _judged(text, REBUILD, guess, back, name="run.sh").unbound
    assert word.said == '"4.3 HOURS" was taken back: a guess; it is 145.5 s (rebuild-cache)'
    assert edited(text, word.edits) == "# ~145.5 s, claim: rebuild-cache\n"
    (alone,) = _judged(text, guess, _taken_back("rebuild-guess"), name="run.sh").unbound
    assert alone.said == '"4.3 HOURS" was taken back: a guess' and not alone.edits


def test_what_was_measured_again_since_stands() -> None:
    again = _measured("a-b", 90, day=9)
    assert _judged("[90 s](claim:a-b)", _measured("a-b", 145.5), _taken_back("a-b"), again).unbound == []


def test_successors_that_go_round_are_none() -> None:
    known = Measurements(
        measured=(_measured("a-b", 1), _measured("c-d", 2)),
        supersessions=(_taken_back("a-b", by="c-d"), _taken_back("c-d", by="a-b")),
    )
    assert said_now("a-b", known) is None


def test_code_that_changed_makes_a_claim_stale_and_no_comment_does(tmp_path: Path) -> None:
    code = tmp_path / "lint.py"
    code.write_text("def cold():\n    return 1\n")
    one = cover("lint.py:cold", tmp_path)
    measured = _measured("lint-cold", 1.5, code={one.target: one.digest})
    code.write_text("# more\ndef cold():\n    '''Says.'''\n    return 1  # one\n")
    found = _judged("[1.5 s](claim:lint-cold)", measured, root=tmp_path)
    assert (found.stale, found.covered) == ([], 1)
    code.write_text("def cold():\n    return 2\n")
    (word,) = _judged("[1.5 s](claim:lint-cold)", measured, root=tmp_path).stale
    assert word.said == "lint.py:cold changed since 2026-11-30"
    code.unlink()
    (word,) = _judged("[1.5 s](claim:lint-cold)", measured, root=tmp_path).stale
    assert word.said == "lint.py:cold gone since 2026-11-30"


@pytest.mark.parametrize(
    ("text", "more", "is_told"),
    [
        ("It takes [145.5 s](claim:a-b).", {"device": {}}, True),
        ("It takes [145.5 s](claim:a-b).", {"device": ON}, False),
        ("It takes [145.5 s](claim:a-b).", {"device": {}, "seat": "batch 8"}, False),
        ("It takes [145.5 s](claim:a-b) on one H200.", {"device": {}}, False),
        ("On 2 cores\n[145.5 s](claim:a-b).", {"device": {}}, False),
    ],
)
def test_a_speed_is_of_some_device(text: str, more: dict[str, object], is_told: bool) -> None:
    assert bool(_judged(text, _measured("a-b", 145.5, **more)).placeless) is is_told
    assert not _judged("[12 %](claim:a-b)", _measured("a-b", 0.12, "", device={})).placeless


# --- the table ---------------------------------------------------------------------------------------------------

GUESS = _measured("rebuild-guess", 4.3, "h")
SET = (_measured("share-quadratic", 68, "%"), _measured("mfu-share", 8.6, "%"))
KNOWN = Measurements(
    measured=(REBUILD, GUESS, *SET),
    supersessions=(
        _taken_back("share-quadratic", "mfu-share", day=6, why="another <seat> | kernel", scope_was="the serving seat"),
        _taken_back("rebuild-guess", by="rebuild-cache"),
    ),
)


def test_the_table_has_a_row_for_each_claim_of_a_set_in_the_order_of_time() -> None:
    assert table(KNOWN).splitlines() == [
        "| Claim | It said | It says now | Why | It was true of | Since |",
        "| --- | --- | --- | --- | --- | --- |",
        "| rebuild-guess | 4.3 h | 145.5 s (rebuild-cache) | a guess | – | 2026-12-05 |",
        "| share-quadratic | 68 % | – | another &lt;seat> \\| kernel | the serving seat | 2026-12-06 |",
        "| mfu-share | 8.6 % | – | another &lt;seat> \\| kernel | the serving seat | 2026-12-06 |",
    ]
    assert table(Measurements()) == "Nothing was taken back.\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_document_that_declares_the_table_is_held_against_it(newline: str) -> None:
    text = newline.join(["# A", "<!-- affidavit:superseded -->", "old", "<!-- /affidavit:superseded -->", "end"])
    (found,) = declared(text, KNOWN)
    assert not found.is_current(text) and found.line == 2
    (word,) = judge([Sheet(Path("a.md"), text)], KNOWN, Path("/none")).unbound
    new = edited(text, word.edits)
    assert new.startswith(f"# A{newline}<!--") and new.endswith(f"-->{newline}end") and "rebuild-guess" in new
    assert new.count("\r") == (new.count("\n") if newline == "\r\n" else 0)
    assert judge([Sheet(Path("a.md"), new)], KNOWN, Path("/none")).unbound == []


def test_a_table_without_an_end_is_told_and_one_in_code_is_none() -> None:
    open_end = Sheet(Path("a.md"), "<!-- affidavit:superseded -->\n")
    (word,) = judge([open_end], KNOWN, Path("/none")).unbound
    assert "follows it" in word.said and not word.edits
    assert not [*declared("```\n<!-- affidavit:superseded -->\n```\n", KNOWN)]


# --- what mends --------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "tree"
    root.mkdir()
    _git(root, "init", "-q")
    (root / "README.md").write_bytes(b"\xff It takes [4.3 HOURS](claim:rebuild-cache).\r\nEnd")
    (root / "README.md").chmod(0o755)
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "-m", "first")
    (root / "new.sh").write_text("# 4.3 HOURS claim: rebuild-cache\n")
    yield root
    shutil.rmtree(root)


def _git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "commit.gpgsign=false", *words], cwd=root, check=True, capture_output=True)


def test_a_diff_is_one_that_git_takes_and_nothing_else_is_written(tree: Path) -> None:
    found = judge(sheets(below(tree)), Measurements(measured=(REBUILD,)), tree)
    todo = mends(found.unbound)
    assert [mend.path.name for mend in todo] == ["README.md", "new.sh"]
    text = "".join(diff(todo, tree)).encode("utf-8", "surrogateescape")
    subprocess.run(["git", "apply", "--check"], cwd=tree, input=text, check=True)
    assert [reason_against(mend.path) for mend in todo] == ["", "not tracked"]
    assert [write(mend) for mend in todo] == ["", "not tracked"]
    assert (tree / "README.md").read_bytes() == b"\xff It takes [145.5 s](claim:rebuild-cache).\r\nEnd"
    assert (tree / "README.md").stat().st_mode & 0o777 == 0o755
    assert "4.3 HOURS" in (tree / "new.sh").read_text()
    assert reason_against(tree / "README.md").startswith("changed since its commit")
    for option in ("--assume-unchanged", "--skip-worktree"):
        _git(tree, "checkout", "README.md")
        _git(tree, "update-index", option, "README.md")
        (tree / "README.md").write_text("Mine.\n")
        assert "told not to look" in reason_against(tree / "README.md")
        _git(tree, "update-index", option.replace("--", "--no-"), "README.md")


def test_a_file_that_changed_in_between_is_left_alone(tree: Path) -> None:
    (mend, _) = mends(judge(sheets(below(tree)), Measurements(measured=(REBUILD,)), tree).unbound)
    (tree / "README.md").write_text("Another.\n")
    assert write(mend)
    assert (tree / "README.md").read_text() == "Another.\n"


def test_what_is_no_text_is_not_read(tree: Path) -> None:
    (tree / "data.bin").write_bytes(b"\0 claim: a-b")
    (tree / "big.md").write_bytes(b"claim: a-b" * (1 << 18))
    assert [sheet.path.name for sheet in sheets(below(tree))] == ["new.sh", "README.md"]
    assert read_sheet(tree / "gone.md").text == ""


@pytest.mark.parametrize(
    ("value", "written"),
    [(145.5, "145.5"), (4.3, "4.3"), (15480.0, "15,480"), (91.51234, "91.51"), (0.0004567, "0.0004567"), (3.0, "3")],
)
def test_a_number_is_written_without_digits_that_say_nothing(value: float, written: str) -> None:
    assert number(value) == written


def test_how_old_a_measurement_is() -> None:
    assert [age(REBUILD, (DAY + datetime.timedelta(days=day)).date()) for day in (0, 1, 400)] == [
        "today",
        "yesterday",
        "400 days ago",
    ]
