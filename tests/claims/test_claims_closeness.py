"""Close and beside: an old value of a claim is in a sentence or a row about it; next to one it waits for a person."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from affidavit.claims.anchor.place import COMMENTS, MARKDOWN, PYTHON
from affidavit.claims.closeness import is_close
from affidavit.claims.copies import formers
from affidavit.claims.fix import mends
from affidavit.claims.sheet import Sheet
from affidavit.claims.survey import survey
from affidavit.record.measurement import Measurement, Measurements, Supersession

DAY = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
NEXT = DAY + datetime.timedelta(days=1)
OLD = Measurement(name="encode-cache-rebuild", value=4.3, unit="h", date=DAY, device={"cpu": "x"})
NEW = Measurement(name="encode-cache-rebuild", value=145.5, unit="s", date=NEXT, device={"cpu": "x"})
KNOWN = Measurements(measured=(OLD, NEW))
(TOLD,) = formers(KNOWN)


@pytest.mark.parametrize(
    ("text", "kind", "is_one"),
    [
        ("Rebuilding the encode cache takes 4.3 h.", MARKDOWN, True),
        ("The encode cache is rebuilt\nin 4.3 h.", MARKDOWN, True),
        ("A rebuild of the encode cache takes approx. 4.3 h.", MARKDOWN, True),
        ("Evaluation takes 4.3 h. The encode cache is rebuilt.", MARKDOWN, False),
        ("The encode cache is rebuilt. Evaluation takes 4.3 h.", MARKDOWN, False),
        ("The encode cache is rebuilt. 4.3 h is the evaluation.", MARKDOWN, False),
        ("- rebuild of the encode cache\n- evaluation: 4.3 h", MARKDOWN, False),
        ("- rebuild of the encode cache: 4.3 h\n- evaluation", MARKDOWN, True),
        ("# Rebuild of the encode cache\n\nEvaluation takes 4.3 h.", MARKDOWN, False),
        ("| a | b |\n|---|---|\n| encode cache rebuild | 1 s |\n| evaluation | 4.3 h |", MARKDOWN, False),
        ("| a | encode cache rebuild |\n|---|---|\n| time | 4.3 h |", MARKDOWN, True),
        ("| encode cache rebuild | 4.3 h |", MARKDOWN, True),
        ("# The encode cache is rebuilt\n# in 4.3 h\nrun", COMMENTS, True),
        ("# The encode cache is rebuilt.\n# 4.3 h is the evaluation.", COMMENTS, False),
        ("REBUILD_ENCODE_CACHE=1\nsleep 5 # 4.3 h", COMMENTS, False),
        ("REBUILD_ENCODE_CACHE=1 # 4.3 h", COMMENTS, True),
        ('ENCODE_CACHE_REBUILD = "4.3 h"', PYTHON, True),
        ("4.3 h", MARKDOWN, False),
    ],
)
def test_a_number_is_of_the_claim_that_its_sentence_speaks_of(text: str, kind: str, is_one: bool) -> None:
    at = text.index("4.3 h")
    assert is_close(TOLD, text, at, at + 5, kind) is is_one


def test_one_beside_is_told_and_not_mended(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("Rebuilding the encode cache takes 4.3 h. Evaluation takes 4.3 h.\n")
    found = survey([page], KNOWN, tmp_path)
    assert [(word.said, len(word.edits)) for word in found.copies] == [('"4.3 h" was measured again: it is 145.5 s', 1)]
    (beside,) = found.loose
    assert "or it is of something else" in beside.said and not beside.edits and beside not in found.mendable


def test_a_small_move_is_no_old_value_unless_it_was_taken_back(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("Rebuilding the encode cache takes 145.5 s.\n")
    again = Measurement(name="encode-cache-rebuild", value=150.0, unit="s", date=NEXT + datetime.timedelta(days=1))
    moved = Measurements(measured=(NEW, again))
    assert survey([page], moved, tmp_path).copies == ()
    back = Supersession(claims=("encode-cache-rebuild",), why="x", date=NEXT)
    gone = Measurements(measured=(NEW,), supersessions=(back,))
    (word,) = survey([page], gone, tmp_path).copies
    assert word.said == '"145.5 s" was taken back: x' and word.edits == ()


@pytest.mark.parametrize("text", ["| " * 5000, "# x\n" * 5000, "a. " * 20_000, "4.3 h"])
def test_odd_text_is_read_to_its_end(text: str) -> None:
    whole = f"{text}4.3 h{text}"
    for kind in (MARKDOWN, COMMENTS, PYTHON):
        assert is_close(TOLD, whole, len(text), len(text) + 5, kind) is False


def test_what_runs_is_told_of_numbers_that_name_nothing(tmp_path: Path) -> None:
    launcher = tmp_path / "go.sh"
    launcher.write_text("# the encode cache takes 20 min to rebuild\n")
    script = tmp_path / "go.py"
    script.write_text("# the encode cache takes 20 min to rebuild\n")
    here = survey([launcher, script], KNOWN, tmp_path)
    assert [word.path for word in here.loose] == [launcher]
    assert {word.path for word in survey([launcher, script], KNOWN, tmp_path, launched=True).loose} == {
        launcher,
        script,
    }
    launcher.write_text("# the encode cache is rebuilt.\n# evaluation takes 20 min\n")
    assert survey([launcher], KNOWN, tmp_path).loose == ()
    launcher.write_text("# the encode cache takes 145.5 s to rebuild, claim: encode-cache-rebuild\n")
    found = survey([launcher], KNOWN, tmp_path, launched=True)
    assert (found.loose, found.copies, found.judged.unbound, len(found.judged.held)) == ((), (), [], 1)


@pytest.mark.parametrize(
    ("name", "text", "mended"),
    [
        ("a.md", "encode cache rebuild: ~4.3 h", "encode cache rebuild: ~[145.5 s](claim:encode-cache-rebuild)"),
        ("a.sh", "# encode cache rebuild: 4.3 h", "# encode cache rebuild: 145.5 s (claim: encode-cache-rebuild)"),
        ("a.md", "`encode cache rebuild 4.3 h`", "`encode cache rebuild 145.5 s`"),
        ("a.md", "[encode cache rebuild 4.3 h](x.md)", "[encode cache rebuild 145.5 s](x.md)"),
        ("a.rst", "encode cache rebuild: 4.3 h", "encode cache rebuild: 145.5 s"),
        ("a.sh", 'echo "encode cache rebuild: 4.3 h"', 'echo "encode cache rebuild: 145.5 s"'),
    ],
)
def test_a_copy_is_bound_where_its_place_can_carry_an_id(tmp_path: Path, name: str, text: str, mended: str) -> None:
    (tmp_path / name).write_text(text)
    (mend,) = mends(survey([tmp_path / name], KNOWN, tmp_path).copies)
    assert mend.after == mended
    assert all(not one.problem for one in Sheet(tmp_path / name, mended).anchors)
