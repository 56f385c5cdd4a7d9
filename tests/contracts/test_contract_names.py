"""What others import is frozen here: a name that goes, or one that slips in, is a decision and not an accident."""

from __future__ import annotations

import importlib

import pytest

PUBLIC = {
    "affidavit": ["__version__", "cached", "call", "load_ipython_extension", "measurement", "observe"],
    "affidavit.check": [
        "Check",
        "CheckShapeError",
        "Drill",
        "DrillRefusedError",
        "Fail",
        "Finding",
        "Landmine",
        "Outcome",
        "Pass",
        "Proof",
        "Review",
        "Sabotage",
        "Site",
        "Unproven",
        "Verdict",
        "check",
        "drill",
        "judge",
        "owed",
        "run",
    ],
}
MOST = 20
"""More public names than this, and nobody learns them."""


def _differs(module: str, frozen: list[str]) -> list[str]:
    said = importlib.import_module(module).__all__
    return sorted(set(said) ^ set(frozen))


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_these(module: str) -> None:
    assert _differs(module, PUBLIC[module]) == []
    found = importlib.import_module(module)
    assert all(hasattr(found, name) for name in found.__all__)
    assert len(found.__all__) <= MOST


def test_a_name_that_slips_in_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("affidavit.__all__", [*PUBLIC["affidavit"], "Run"])
    assert _differs("affidavit", PUBLIC["affidavit"]) == ["Run"]
