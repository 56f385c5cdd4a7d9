"""Claims in notebooks: read as they are shown, mended in the JSON as it is written; and ids where none is read."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from affidavit.claims.anchor.anchor import anchors
from affidavit.claims.anchor.place import NOTEBOOK, kind_of
from affidavit.claims.fix import mends
from affidavit.claims.survey import survey
from affidavit.record.measurement import Measurement, Measurements

ID = "encode-cache-rebuild"
KNOWN = Measurements(
    measured=(
        Measurement(
            name=ID, value=145.5, unit="s", date=datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC), device={"a": "b"}
        ),
    )
)
LINK = f"[9 s](claim:{ID})"
CELLS: tuple[dict[str, Any], ...] = (
    {"cell_type": "markdown", "metadata": {}, "source": ["# Day one\n", "\n", f'"It" takes {LINK}.\n']},
    {"source": f"It takes {LINK}, café → twice\\.\nAnd {LINK}.", "cell_type": "markdown", "metadata": {"source": LINK}},
    {"cell_type": "markdown", "metadata": {}, "source": ["```\n", f"{LINK}\n", "```\n", f"and `{LINK}`"]},
    {
        "cell_type": "code",
        "metadata": {},
        "execution_count": 1,
        "outputs": [{"output_type": "stream", "text": [f"{LINK}\n"], "source": LINK}],
        "source": [f"LIMIT = 9  # s, claim: {ID}\n", f'print("[#] {LINK}")\n', f"MORE = '9'  # 9 s (claim: {ID})"],
    },
    {"cell_type": "code", "metadata": {}, "source": ["%time x = 1\n", f"y = 9  # s, claim: {ID}"]},
    {"cell_type": "raw", "metadata": {}, "source": [LINK]},
)
READ = 6
"""Links and comments of those that are ids."""


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_cells_carry_ids_as_their_texts_do(tmp_path: Path, indent: int | None, is_ascii: bool) -> None:
    path = tmp_path / "a.ipynb"
    text = json.dumps({"cells": CELLS, "nbformat": 4, "nbformat_minor": 5}, indent=indent, ensure_ascii=is_ascii)
    path.write_text(text)
    found = survey([path], KNOWN, tmp_path)
    assert [word.claim for word in found.judged.unbound] == [ID] * READ
    assert kind_of(path) == NOTEBOOK
    assert {one.at.of(text) for one in anchors(text, NOTEBOOK)} == {"9 s", "9"}
    if indent is not None:
        assert [text.split("\n")[word.line - 1].count("claim:") for word in found.judged.unbound] == [1, 2, 2, 1, 1, 1]
    (mend,) = mends(found.judged.unbound)
    cells = json.loads(mend.after)["cells"]
    assert text.count(LINK) - mend.after.count(LINK) == 3
    assert cells[0]["source"][2] == f'"It" takes [146 s](claim:{ID}).\n'
    assert cells[3]["source"][0] == f"LIMIT = 146  # s, claim: {ID}\n" and cells[4]["source"][1].startswith("y = 146 ")
    assert cells[3]["outputs"] == list(CELLS)[3]["outputs"] and cells[5] == CELLS[5]


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"cells": [', f'{{"cells": [{{"source": "{LINK}', f'"{LINK}"', f'[[{{"source": "{LINK}"}}]]', "}]}" * 9],
)
def test_what_is_no_notebook_carries_none(text: str) -> None:
    assert anchors(text, NOTEBOOK) == ()


def test_a_notebook_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [CELLS[0]]}))
    odd = Measurement(name=ID, value=3, unit='"x"', date=KNOWN.measured[0].date)
    assert mends(survey([path], Measurements(measured=(odd,)), tmp_path).judged.unbound) == ()


@pytest.mark.parametrize(
    ("name", "told"), [("a.js", [2]), ("a.tex", [2]), ("a.json", []), ("a.diff", []), ("a.md", []), ("a.sh", [])]
)
def test_an_id_where_none_is_read_is_told(tmp_path: Path, name: str, told: list[int]) -> None:
    path = tmp_path / name
    path.write_text(f"// claim: it works, claim: an-example\n// 145.5 s, claim: {ID}\n")
    found = survey([path], KNOWN, tmp_path)
    assert [word.line for word in found.judged.placeless] == told and not found.judged.unbound
