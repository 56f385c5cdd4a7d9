"""What a record says of saved models, read from records of other versions and from bent ones."""

import pytest

from affidavit.case import case_of
from affidavit.fact.values import Table
from affidavit.record import artifact

DIGEST = f"{artifact.WHOLE}:{'0' * 64}"
SAVED = ("path", "form", "step", "time", "state", "mark")


def test_what_was_saved_is_read_back() -> None:
    record = case_of(
        run={
            "artifact.saves": Table(SAVED, (("out", "transformers", 6, "2026-01-01T00:00:00Z", "there", "left"),)),
            "artifact.files": Table(("path", "digest", "bytes", "step"), (("out/model.safetensors", DIGEST, 9, 6),)),
        }
    ).subject
    assert [place.path for place in artifact.places(record)] == ["out"]
    assert [subject.name for subject in artifact.subjects(record)] == ["out/model.safetensors"]


@pytest.mark.parametrize("columns", [("path",), ("path", "form", "step", "state", "mark")], ids=str)
def test_a_table_with_other_columns_is_no_table_of_ours_and_no_crash(columns: tuple[str, ...]) -> None:
    table = Table(columns, (tuple("x" for _ in columns),))
    record = case_of(run={"artifact.saves": table, "artifact.files": table}).subject
    assert artifact.places(record) == () and artifact.files(record) == () and artifact.subjects(record) == ()
