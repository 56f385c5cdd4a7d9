"""How rows begin and end, and whether their answers are learnt to the end.

Source: silent-failure-corpus D1 to D3, L3b; hf-stack-spike §4 (padding that ends a text, truncation).
Blind to: an answer that was cut off exactly where it could have ended; text without turns, of which nothing says
whether it should have gone on, unless a prompt stands in front of it that carries no label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from affidavit.attach.tokenizer import Tokenizer
from affidavit.fact.values import Tally
from affidavit.instruments.tokens.rows import Row
from affidavit.instruments.tokens.turns import TEXT, Marker, Run

ANSWERS = "assistant"


class Ends:
    """Counts over rows. ``regrouped`` says that rows were put together of others, so that where one ends is chance.

    A row that can be told from its neighbours in the same pack ends where it ended before.
    """

    def __init__(self) -> None:
        self.regrouped = False
        self._labels: Counter[str] = Counter({"lit": 0, "dark": 0})
        self._answers: Counter[str] = Counter({"lit": 0, "dark": 0})
        self._terminators: Counter[str] = Counter({"lit": 0, "dark": 0, "cut off": 0, "never written": 0})
        self._rows: Counter[str] = Counter({"whole": 0, "cut off": 0, "without an answer": 0})
        self._doubled: Counter[str] = Counter({"begin": 0, "end": 0, "neither": 0})
        self._open = 0

    def tallies(self) -> dict[str, Tally]:
        rows = Counter(self._rows)
        if rows["whole"]:
            rows["cut off"] += self._open  # others do end: these were cut off
        return {
            "tokens.rows_by_label": Tally.count("rows", self._labels),
            "tokens.answers": Tally.count("assistant turns", self._answers),
            "tokens.terminators": Tally.count("ends", self._terminators),
            "tokens.rows_by_end": Tally.count("rows", rows),
            "tokens.doubled": Tally.count("rows", self._doubled),
        }

    def take(self, row: Row, found: Sequence[Run], tokenizer: Tokenizer, known: Sequence[Marker]) -> None:
        """Count one row."""
        self._doubled[_doubled(row.ids, tokenizer)] += 1
        if row.taught:
            self._labels["lit" if any(row.taught) else "dark"] += 1
        turns = [run for run in found if run.turn >= 0]
        if turns and turns[0].role != TEXT:
            self._take_chat(row, turns, closes=any(marker.closes for marker in known if marker.role == ANSWERS))
        else:
            self._take_text(row, tokenizer)

    def _take_chat(self, row: Row, turns: Sequence[Run], *, closes: bool) -> None:
        last = turns[-1]
        for run in turns:
            if run.role != ANSWERS or not row.taught:
                continue
            is_lit = any(row.taught[run.first : run.stop])
            self._answers["lit" if is_lit else "dark"] += 1
            if not is_lit:
                continue
            if run.closed:
                self._terminators["lit" if row.taught[run.stop - 1] else "dark"] += 1
            else:
                self._terminators["cut off" if closes and run is last else "never written"] += 1
        if self.regrouped and not row.unpacked:
            return
        if not last.closed and (closes or last.role != ANSWERS):
            self._rows["cut off"] += 1
        elif any(run.role == ANSWERS for run in turns):
            self._rows["whole"] += 1
        else:
            self._rows["without an answer"] += 1

    def _take_text(self, row: Row, tokenizer: Tokenizer) -> None:
        """Count what ends a text that is learnt; padding that also ends a text is one of them only under a mask."""
        ids, lit = row.ids, row.taught
        if not any(lit) or (not row.masked and tokenizer.pad in tokenizer.ends):
            return
        ends = tokenizer.ends
        for at in range(1, len(ids)):
            if ids[at] in ends and lit[at - 1]:
                self._terminators["lit" if lit[at] else "dark"] += 1
        if lit[-1] and ids[-1] == tokenizer.pad and tokenizer.pad not in ends:
            self._terminators["never written"] += 1  # trained to go on with padding, where it should end
        if lit[0] or (self.regrouped and not row.unpacked):
            return
        if ids[-1] in ends:
            self._rows["whole"] += 1
        else:
            self._open += 1


def _doubled(ids: Sequence[int], tokenizer: Tokenizer) -> str:
    """Say whether a row begins or ends twice; where one token does both, two texts may have met there."""
    begin, ends = tokenizer.begin, tokenizer.ends
    if begin is not None and begin not in ends and begin in ids[:2] and list(ids[:2]) == [begin, begin]:
        return "begin"
    return "end" if len(ids) > 1 and ids[-1] in ends and ids[-2] == ids[-1] else "neither"
