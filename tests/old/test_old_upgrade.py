"""An upgrade under an unchanged script: what it moved is said, line by line, and nothing else.

Measured with transformers 4.57.6 and TRL 0.24 against 5.24 and 1.16. A checkpoint in bfloat16 that is loaded without a
type was widened to float32 and no longer is; what the optimizer then adds to a norm is too small for 16 bits. Both TRLs
switch autocast and gradient checkpointing on by themselves, so the lock holds that and no line of it moves.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Mapping
from pathlib import Path

import pytest
from server import Server
from worlds import CHECKS, WORDS, judged

from affidavit.case import Case
from affidavit.check import Verdict, judge
from affidavit.fact import folder as names
from affidavit.fact.journal import read
from affidavit.record.lock import accepted, read_lock, write_lock
from affidavit.record.merge import merge
from affidavit.record.record import Kind, Record
from affidavit.report.difference import compare, lines
from affidavit.report.implied import implied
from affidavit.report.terminal import Tone

SCRIPTS = Path(__file__).parent / "scripts"
FIRST, LATER = datetime.date(2026, 11, 30), datetime.date(2026, 12, 1)
WIDENED = "the weights are held in bfloat16 (default of from_pretrained); before: float32 (default of from_pretrained)"
STILL = (
    "weights that do not do what they should: still in 16 bits despite a gradient in 5 places; "
    "before: what trains moves and the rest rests"
)
HUNKS = """\
-#: the weights are held in float32 (default of from_pretrained)
-"precision.weight_types" = { value = ["float32"], by = "default of from_pretrained", since = 2026-11-30 }
+#: the weights are held in bfloat16 (default of from_pretrained)
+"precision.weight_types" = { value = ["bfloat16"], by = "default of from_pretrained", since = 2026-12-01 }
-"weights.exceptions" = { value = { layers = [] }, since = 2026-11-30 }  #: what trains moves and the rest rests
+#: weights that do not do what they should: still in 16 bits despite a gradient in 5 places
+"weights.exceptions" = { value = { layers = [["model.layers.{0..1}.input_layernorm.weight", "S"], \
["model.layers.{0..1}.post_attention_layernorm.weight", "S"], ["model.norm.weight", "S"]] }, since = 2026-12-01 }
""".replace('"S"', '"still in 16 bits despite a gradient"')
"""What a reviewer of the upgrade sees of affidavit.lock in the pull request."""


def _records(script: str, place: Path, servers: Mapping[str, Server]) -> dict[str, Record]:
    """Return the record of a script on each stack."""
    found = {}
    for stack, server in servers.items():
        folder = place / stack
        folder.mkdir(parents=True)
        judged(server, folder, SCRIPTS / f"{script}.py")
        readings = [read(path) for path in names.journals(folder)]
        found[stack] = merge(readings, kind=Kind.RUN, subject=stack, vocabulary=WORDS)
    return found


@pytest.fixture(scope="module")
def unsaid(world_server: Server, old_server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    return _records("unsaid", tmp_path_factory.mktemp("unsaid"), {"older": old_server, "newer": world_server})


def _accept(path: Path, record: Record, as_of: datetime.date) -> list[str]:
    changes = write_lock(path, "sft", accepted(record), vocabulary=WORDS, as_of=as_of)
    return [change.said for change in changes]


def test_the_older_run_is_locked_with_who_decided(unsaid: Mapping[str, Record], tmp_path: Path) -> None:
    said = _accept(tmp_path / "affidavit.lock", unsaid["older"], FIRST)
    assert {
        "matrix products ran in bfloat16 (default of SFTConfig: bf16=True)",
        "gradient checkpointing is on (default of SFTConfig: gradient_checkpointing=True)",
        "the weights are held in float32 (default of from_pretrained)",
        "the learning rate is 2e-05 (default of SFTConfig: learning_rate=2e-05)",
    } <= set(said)


def test_the_upgrade_moves_these_lines_of_the_lock_and_no_other(unsaid: Mapping[str, Record], tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    _accept(path, unsaid["older"], FIRST)
    before = path.read_text().splitlines()
    assert _accept(path, unsaid["newer"], LATER) == [WIDENED, STILL]
    _, _, *moved = difflib.unified_diff(before, path.read_text().splitlines(), lineterm="", n=0)
    assert [line for line in moved if not line.startswith("@@")] == HUNKS.splitlines()


def test_the_newer_run_contradicts_the_lock_in_just_that(unsaid: Mapping[str, Record], tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    _accept(path, unsaid["older"], FIRST)
    held = read_lock(path, "sft", WORDS)
    assert held is not None
    verdicts = {}
    for stack, record in unsaid.items():
        case = Case(records={"run": record, "lock": held}, as_of=LATER)
        (verdicts[stack],) = judge([CHECKS["lock-holds"]], case)
    assert verdicts["older"].verdict is Verdict.PASS
    assert verdicts["newer"].verdict is Verdict.FAIL
    assert [site.key for site in verdicts["newer"].sites] == ["precision.weight_types", "weights.exceptions"]
    assert "expected the weights are held in float32; what trains moves and the rest rests" in verdicts["newer"].message


def test_the_difference_is_one_paragraph_with_what_came_of_it(unsaid: Mapping[str, Record]) -> None:
    found = list(lines(compare(unsaid["older"], unsaid["newer"])))
    assert [line.text.strip() for line in found[1:] if line.body[0].tone is Tone.STRONG] == [
        "the weights are held in float32 (A) / bfloat16 (B)  A and B: default of from_pretrained"
    ]


def test_by_path_the_type_is_the_same_though_another_decides_it_and_nothing_moves(
    world_server: Server, old_server: Server, tmp_path: Path
) -> None:
    records = _records("unsaid_by_path", tmp_path, {"older": old_server, "newer": world_server})
    path = tmp_path / "affidavit.lock"
    assert "the weights are held in float32 (default of from_pretrained)" in _accept(path, records["older"], FIRST)
    (newer,) = [one for one in implied(records["newer"]) if one.fact.name == "precision.weight_types"]
    assert (newer.said, newer.owner) == ("the weights are held in float32", "default of trl")
    assert _accept(path, records["newer"], LATER) == []
    assert not compare(records["older"], records["newer"]).changes_meaning
