"""What is told of the hits of a run: a line a function, the worse word, the time shared out, and nothing kept alive."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from spoken import Voice

from affidavit.attach.moment import CacheHit, StepEnd, TrainBegin
from affidavit.cache.canary import Sighting, examine
from affidavit.instruments import cache
from affidavit.instruments.cache import Canary


class Rows:
    """What a cache served, and a function that says something about each row."""

    def __init__(self, rows: int = 100, *, changed: Sequence[int] = (), slow: float = 0.0) -> None:
        self.rows, self.changed, self.slow = rows, changed, slow

    def stored(self, rows: Sequence[int]) -> list[Any]:
        return [{"x": row} for row in rows if row < self.rows]

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        time.sleep(self.slow * len(rows))
        return [{"x": -row - 1 if row in self.changed else row} for row in rows]

    def hit(self, name: str = "encode", **told: Any) -> CacheHit:
        given = {"stored": self.stored, "recompute": self.recompute, "rows": self.rows, **told}
        return CacheHit(cache="datasets.map", function=name, **{"entry": "cache-1.arrow", **given})


@pytest.fixture
def voice(monkeypatch: pytest.MonkeyPatch) -> Voice:
    for name in cache._RANKS:
        monkeypatch.delenv(name, raising=False)
    return Voice(Canary())


def _served(voice: Voice, *hits: CacheHit) -> list[dict[str, Any]]:
    instrument: Any = voice.instrument
    for hit in hits:
        instrument.served(hit, voice.emit)
    instrument.report(StepEnd(step=2), voice.emit)
    return list(voice.known("cache.canary").records())


def test_a_run_that_hits_no_cache_says_so(voice: Voice) -> None:
    assert _served(voice) == []
    assert voice.source("cache.canary") == "no cache was hit"


def test_what_is_the_same_and_what_is_not(voice: Voice) -> None:
    same, other = _served(voice, Rows().hit("same"), Rows(changed=[4, 40]).hit("other"))[::-1]
    assert (same["outcome"], same["examined"], same["different"], same["bound"]) == ("same", 100, 0, 0.0)
    assert (other["outcome"], other["different"] > 0, other["fields"]) == ("different", True, "x")


def test_hits_of_one_function_are_one_line_and_the_worse_word_stands(voice: Voice) -> None:
    (row,) = _served(voice, Rows().hit(), Rows(changed=[7]).hit(), Rows(50).hit())
    assert (row["outcome"], row["served"], row["different"], row["first"]) == ("different", 250, 1, "7")


def test_other_ranks_and_workers_say_nothing(voice: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    assert _served(voice, Rows(changed=[1]).hit()) == []


def test_a_switch_that_is_off_is_said(voice: Voice) -> None:
    voice.emit.canary_seconds = 0.0
    (row,) = _served(voice, Rows(changed=[1]).hit())
    assert (row["outcome"], row["examined"], row["bound"]) == ("switched off", 0, 1.0)


def test_what_is_served_while_it_trains_is_not_looked_at(voice: Voice) -> None:
    instrument: Any = voice.instrument
    instrument.begin(TrainBegin(driver="test", model=None), voice.emit)
    (row,) = _served(voice, Rows(changed=[1]).hit())
    assert row["outcome"] == "not examined"


def test_the_time_is_shared_out_and_never_passed(voice: Voice) -> None:
    voice.emit.canary_seconds = 1.0
    begun = time.monotonic()
    rows = _served(voice, *(Rows(10_000, slow=0.002).hit(f"slow {number}") for number in range(12)))
    assert time.monotonic() - begun < 4.0
    outcomes = [row["outcome"] for row in rows]
    assert "same" in outcomes and "not examined" in outcomes
    assert all(0 < row["examined"] < 10_000 for row in rows if row["outcome"] == "same")


def test_a_function_that_was_refused_is_not_called_again(voice: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[CacheHit] = []

    def refused(hit: CacheHit, **_: Any) -> Sighting:
        asked.append(hit)
        return Sighting(outcome="refused", why="network: socket.connect")

    monkeypatch.setattr(cache, "examine", refused)
    (row,) = _served(voice, Rows().hit(), Rows().hit())
    assert (len(asked), row["outcome"], row["why"], row["served"]) == (1, "refused", "network: socket.connect", 200)


def test_more_caches_than_a_fact_may_hold_are_told_as_the_worst(voice: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"why": "w" * 200, "fields": ("f" * 200,), "first": (10**9,) * 3}
    outcomes = iter(["same"] * 39 + ["refused"])
    monkeypatch.setattr(cache, "examine", lambda _, **__: Sighting(outcome=next(outcomes), examined=1, **words))
    hits = [Rows().hit("n" * 90 + str(number), entry="e" * 90) for number in range(40)]
    rows = _served(voice, *hits)
    assert (rows[0]["outcome"], rows[-1]["function"], rows[-1]["examined"]) == ("refused", "and 25 others", 25)
    assert sum(row["served"] for row in rows) == 4_000


def test_nothing_of_the_run_is_kept(voice: Voice) -> None:
    rows = Rows()
    alive = weakref.ref(rows)
    _served(voice, rows.hit())
    del rows
    gc.collect()
    assert alive() is None


# --- the canary itself --------------------------------------------------------------------------------------------


def test_rows_that_stand_out_are_seen_first() -> None:
    rows = Rows(1_000_000, changed=[777_777])
    assert examine(rows.hit(), seconds=10).outcome == "same"
    told = examine(rows.hit(salient=lambda: [777_777]), seconds=10)
    assert (told.outcome, told.first) == ("different", (777_777,))


def test_one_row_of_one_that_differs_is_confirmed_elsewhere() -> None:
    assert examine(Rows(1, changed=[0]).hit(), seconds=10).outcome == "different"


def test_whole_batches_are_recomputed() -> None:
    asked: list[Sequence[int]] = []
    rows = Rows(1_003)

    def recompute(at: Sequence[int]) -> list[Any]:
        asked.append(at)
        starts = sorted({row // 10 * 10 for row in at})
        assert list(at) == [row for start in starts for row in range(start, min(start + 10, 1_003))]
        return rows.recompute(at)

    hit = rows.hit(recompute=recompute, batch=lambda row: range(row // 10 * 10, min(row // 10 * 10 + 10, 1_003)))
    assert examine(hit, seconds=10) == Sighting(outcome="same", examined=1_003)


@pytest.mark.parametrize("kind", ["counts", "remembers", "draws"])
def test_a_function_that_is_no_function_is_not_accused(kind: str) -> None:
    import random

    ids: dict[int, int] = {}
    calls: list[int] = []

    def recompute(at: Sequence[int]) -> list[Any]:
        made = []
        for row in at:
            calls.append(row)
            value = {"counts": len(calls), "remembers": ids.setdefault(row % 37, len(ids)), "draws": random.random()}
            made.append({"x": value[kind]})
        return made

    told = examine(Rows(5_000).hit(recompute=recompute), seconds=10)
    assert told.outcome == "not deterministic"
    assert not ids and not calls, "what the child remembers is the child's"


def test_texts_out_of_a_set_come_in_another_order_and_are_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    def hit(*texts: str) -> CacheHit:
        return Rows().hit(
            stored=lambda at: [{"x": ["a", "b", "c"], "y": row} for row in at],
            recompute=lambda at: [{"x": list(texts), "y": row} for row in at],
        )

    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    told = examine(hit("c", "a", "b"), seconds=10)
    assert told.outcome == "not deterministic" and "PYTHONHASHSEED" in told.why
    assert examine(hit("c", "a", "d"), seconds=10).outcome == "different"
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert examine(hit("c", "a", "b"), seconds=10).outcome == "different"


def test_an_error_of_the_function_is_no_answer() -> None:
    def recompute(at: Sequence[int]) -> list[Any]:
        raise KeyError("column")

    assert examine(Rows().hit(recompute=recompute), seconds=10).outcome == "raised"
