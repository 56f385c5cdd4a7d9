"""What is told of the probes that were kept: of functions that are in use here, and of their code as it is now."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from spoken import Voice

from affidavit.attach.moment import StepEnd
from affidavit.cache.probe.probed import COVERED, FAULT, UNPROVEN, Found, Probe, keep, live
from affidavit.case import case_of
from affidavit.check import Verdict, run
from affidavit.checks.cache_key_probed import COLUMNS, cache_key_probed
from affidavit.instruments import probes
from affidavit.instruments.probes import Probes

SOURCE = "def encode(row):\n    return row\n\ndef key():\n    return ''\n"


@pytest.fixture
def encoding() -> Iterator[ModuleType]:
    module = ModuleType("encoding_of_a_test")
    sys.modules[module.__name__] = module
    exec(SOURCE, vars(module))
    yield module
    del sys.modules[module.__name__]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path))
    return tmp_path


def _kept(*found: Found, module: str = "encoding_of_a_test", key: str = "key") -> None:
    sources = {f"{module}.encode": live(f"{module}.encode") or ""}
    keep(Probe(function=f"{module}:encode", key=f"{module}:{key}", found=found, rows=3, sources=sources))


def _told() -> list[dict[str, Any]]:
    voice = Voice(Probes())
    voice.instrument.report(StepEnd(step=2), voice.emit)  # type: ignore[attr-defined]
    return list(voice.known("cache.probes").records())


def _verdict() -> Verdict:
    voice = Voice(Probes())
    voice.instrument.report(StepEnd(step=2), voice.emit)  # type: ignore[attr-defined]
    return run(cache_key_probed, case_of(run={"cache.probes": voice.known("cache.probes")})).verdict


def test_the_check_reads_the_columns_that_the_instrument_writes() -> None:
    assert COLUMNS == probes.COLUMNS


def test_without_a_probe_nothing_is_said() -> None:
    assert _told() == [] and _verdict() is Verdict.NOT_APPLICABLE


def test_a_probe_of_a_function_that_is_not_in_use_here_says_nothing(encoding: ModuleType) -> None:
    _kept(Found(FAULT, "config", "mask"), module="somebody_elses")
    _kept(Found(FAULT, "config", "mask"), key="gone")
    assert _told() == []


def test_what_was_proven_is_counted_and_the_worst_is_named(encoding: ModuleType) -> None:
    _kept(Found(COVERED, "config", "length"), Found(UNPROVEN, "config", "mask"), Found(FAULT, "global", "enc.MASK"))
    (row,) = _told()
    assert (row["inputs"], row["covered"], row["unproven"], row["faults"]) == (3, 1, 1, 1)
    assert (row["worst"], row["changed"]) == ("global enc.MASK", "")
    assert _verdict() is Verdict.FAIL


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((Found(COVERED, "config", "length"),), Verdict.PASS),
        ((Found(COVERED, "config", "length"), Found(UNPROVEN, "config", "mask")), Verdict.UNKNOWN),
        ((), Verdict.UNKNOWN),
    ],
)
def test_only_what_is_proven_passes(encoding: ModuleType, found: tuple[Found, ...], verdict: Verdict) -> None:
    _kept(*found)
    assert _verdict() is verdict


@pytest.mark.parametrize("verdict", [COVERED, FAULT])
def test_a_word_on_code_that_has_changed_proves_nothing(encoding: ModuleType, verdict: str) -> None:
    _kept(Found(verdict, "config", "length"))
    exec(SOURCE.replace("return row", "return row[1:]"), vars(encoding))
    (row,) = _told()
    assert row["changed"] == "encoding_of_a_test.encode"
    assert _verdict() is Verdict.UNKNOWN
