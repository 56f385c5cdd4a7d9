"""Tokens: which of them carry a label when they enter the model, by role and by turn, and the spans themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from affidavit.attach.instrument import Emit, Instrument, at, local
from affidavit.attach.moment import Asked, Batch, Loaded, StepBegin, StepEnd, TrainBegin
from affidavit.attach.tokenizer import Tokenizer
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Tally, Value
from affidavit.instruments.tokens.turns import Marker, Place, markers, places

IGNORED = -100
EACH_TOKEN, EACH_ROW, NO_TEXT = "each token", "each row", "no text"
ROWS_COUNTED = 256
ROWS_KEPT = 16
TURNS_NAMED = 24
"""Turns beyond this are counted together, so that a long conversation still fits in a fact."""


class SupervisionRequest(Instrument):
    """Emits whose tokens the script asked to train on; "unstated" where nobody who could have heard it heard it.

    Source: corpus L3b.
    Blind to: a request made in a language of its own, by a collator or by columns of the data.
    """

    name = "supervision request"
    emits = ("tokens.supervision_requested",)

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        if moment.subject == "supervision":
            emit.known(self.emits[0], moment.value, source=moment.source, method=Method.DECLARED)

    @at(StepBegin)
    def unstated(self, moment: StepBegin, emit: Emit) -> None:
        if not emit.spoken:
            source = "the loop takes no such argument"
            emit.known(self.emits[0], "unstated", source=source, method=Method.DECLARED)


class SupervisedTokens(Instrument):
    """Emits the census of labels over the batches of the sampled step, and keeps spans for "affidavit tokens".

    Counts what enters the model, behind every collator, mask column and cache. Padding is left out.

    Source: silent-failure-corpus D1, D2; hf-stack-spike §4 (coverage with masks that were ignored).
    Blind to: labels that never enter the model because the script computes its own loss; rows beyond the first 256.
    """

    name = "supervised tokens"
    emits = (
        "tokens.labels",
        "tokens.seen_by_role",
        "tokens.supervised_by_role",
        "tokens.supervised_by_turn",
        "tokens.supervised_roles",
        "tokens.rows_examined",
        "tokens.lit_spans",
    )
    budget_seconds = 4.0

    def __init__(self) -> None:
        self._tokenizer: Tokenizer | None = None
        self._markers: tuple[Marker, ...] | None = None
        self._seen: Counter[str] = Counter()
        self._lit: Counter[str] = Counter()
        self._turns: dict[tuple[int, str], Counter[str]] = {}
        self._kept: list[str] = []
        self._rows = 0
        self._labels = _Labels()

    @at(Loaded)
    def loaded(self, moment: Loaded, emit: Emit) -> None:
        if moment.kind == "tokenizer":
            self._tokenizer = moment.item  # type: ignore[assignment]

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        if moment.tokenizer is not None:
            self._tokenizer = moment.tokenizer  # type: ignore[assignment]

    @at(Batch, sampled=True)
    def batch(self, moment: Batch, emit: Emit) -> None:
        ids, labels = moment.inputs.get("input_ids"), moment.inputs.get("labels")
        if not self._labels.are_by_token(moment.inputs) or self._tokenizer is None:
            return
        if self._markers is None:
            self._markers = markers(self._tokenizer)
        mask = moment.inputs.get("attention_mask")
        for row_ids, row_labels in _rows(ids, labels, mask, self._tokenizer):
            if self._rows < ROWS_COUNTED:
                self._count(row_ids, row_labels, emit.tokens_policy)

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        self._labels.say(emit, f"batch that entered the model in step {moment.step}")
        if not self._rows:
            self._say_why_not(emit)
            return
        source = f"labels of {self._rows} rows that entered the model in step {moment.step}"
        told: dict[str, Value] = {
            "tokens.seen_by_role": Tally.count("tokens", self._seen),
            "tokens.supervised_by_role": Tally.count("tokens", {role: self._lit[role] for role in self._seen}),
            "tokens.supervised_by_turn": self._by_turn(),
            "tokens.supervised_roles": tuple(sorted(role for role, count in self._lit.items() if count)),
            "tokens.rows_examined": self._rows,
        }
        for term, value in told.items():
            emit.known(term, value, source=source, method=Method.EXECUTED)
        header = json.dumps({"policy": emit.tokens_policy, "rows": self._rows, "lit": self._lit, "seen": self._seen})
        kept = "\n".join((header, *self._kept)).encode("utf-8", "surrogatepass")
        emit.known("tokens.lit_spans", emit.evidence(kept, tokens=True), source=source, method=Method.EXECUTED)

    def release(self) -> None:
        self._tokenizer = None

    def _say_why_not(self, emit: Emit) -> None:
        for term in self.emits[1:]:
            if self._labels.kind != EACH_TOKEN:
                emit.unknown(term, Cause.NO_OPERATION, self._labels.why)
            elif self._tokenizer is None:
                emit.unknown(term, Cause.NO_TOKENIZER, "name it with affidavit.observe(tokenizer=…)")

    def _count(self, ids: Sequence[int], labels: Sequence[int], policy: str) -> None:
        tokenizer = self._tokenizer
        assert tokenizer is not None and self._markers is not None
        found = places(tokenizer.pieces(ids), self._markers)
        lit = [label != IGNORED for label in labels]
        for (turn, role), tokens in groupby(zip(found, lit), key=lambda pair: (pair[0].turn, pair[0].role)):
            self._count_run(min(turn, TURNS_NAMED), role, list(tokens))
        if self._rows < ROWS_KEPT:
            spans = list(_spans(found, lit, ids, policy, tokenizer))
            self._kept.append(json.dumps({"row": self._rows, "spans": spans}, ensure_ascii=False))
        self._rows += 1

    def _count_run(self, turn: int, role: str, tokens: Sequence[tuple[Place, bool]]) -> None:
        lit = sum(is_lit for _, is_lit in tokens)
        self._seen[role] += len(tokens)
        self._lit[role] += lit
        if turn >= 0:
            counts = self._turns.setdefault((turn, role), Counter())
            ends = sum(place.ends and is_lit for place, is_lit in tokens)
            closed = int(any(place.ends for place, _ in tokens))
            counts.update(turns=1, tokens=len(tokens), supervised=lit, closed=closed, ends=ends)

    def _by_turn(self) -> Table:
        columns = ("turn", "role", "turns", "tokens", "supervised", "closed", "ends")
        rows: list[tuple[Cell, ...]] = []
        for (turn, role), counts in sorted(self._turns.items()):
            rows.append((turn, role, *(counts[column] for column in columns[2:])))
        return Table(columns, tuple(rows))


class _Labels:
    """What a label stands for in the batches seen so far; where that cannot be told, why not."""

    def __init__(self) -> None:
        self.kind = ""
        self.why = "no batch entered the model"

    def are_by_token(self, inputs: Mapping[str, Any]) -> bool:
        """Take one batch, and say whether its labels stand for its tokens."""
        ids, labels = inputs.get("input_ids"), inputs.get("labels")
        if ids is None:
            text = [name for name, value in inputs.items() if _is_id_matrix(value)]
            self.kind = "" if text else NO_TEXT
            self.why = f"ids may enter as {', '.join(text)}, and nobody says so" if text else NO_TEXT
        elif labels is None:
            self.kind, self.why = "", "labels do not enter the model: the script computes its own loss"
        elif tuple(labels.shape) == tuple(ids.shape) and not labels.is_floating_point():
            self.kind = EACH_TOKEN
        elif labels.ndim < 2 or labels.shape[1] == 1 or labels.is_floating_point():
            self.kind, self.why = EACH_ROW, "a label stands for a row and not for a token"
        else:
            self.kind, self.why = "", "labels are a text of their own"
        return self.kind == EACH_TOKEN

    def say(self, emit: Emit, source: str) -> None:
        if self.kind:
            emit.known("tokens.labels", self.kind, source=source, method=Method.EXECUTED)
        else:
            emit.unknown("tokens.labels", Cause.NO_OPERATION, self.why)


def _is_id_matrix(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 2 and not value.is_floating_point() and value.shape[1] > 1


def _rows(ids: Any, labels: Any, mask: Any, tokenizer: Tokenizer) -> Iterator[tuple[list[int], list[int]]]:
    """Yield ``(ids, labels)`` of each row (batch, tokens), padding removed."""
    kept = local(mask).tolist() if mask is not None and getattr(mask, "ndim", 0) == 2 else None
    for place, (row_ids, row_labels) in enumerate(zip(local(ids).tolist(), local(labels).tolist())):
        if kept is not None and len(kept[place]) == len(row_ids):
            keep = [bool(flag) for flag in kept[place]]
        else:
            keep = _unpadded(row_ids, row_labels, tokenizer)
        yield (
            [token for token, stays in zip(row_ids, keep) if stays],
            [label for label, stays in zip(row_labels, keep) if stays],
        )


def _unpadded(ids: list[int], labels: list[int], tokenizer: Tokenizer) -> list[bool]:
    """Say which tokens of a row without a mask are not trailing padding; where padding also ends a text, one stays."""
    end = len(ids)
    while end and ids[end - 1] == tokenizer.pad and labels[end - 1] == IGNORED:
        end -= 1
    if end < len(ids) and tokenizer.pad in tokenizer.ends:
        end += 1
    return [place < end for place in range(len(ids))]


def _spans(
    found: Sequence[Place], lit: Sequence[bool], ids: Sequence[int], policy: str, tokenizer: Tokenizer
) -> Iterator[dict[str, object]]:
    tokens = zip(found, lit, ids)
    for (role, turn, is_lit), run in groupby(tokens, key=lambda token: (token[0].role, token[0].turn, token[1])):
        run_ids = [token[2] for token in run]
        span: dict[str, object] = {"role": role, "turn": turn, "lit": is_lit, "tokens": len(run_ids)}
        if policy in ("ids", "text"):
            span["ids"] = run_ids
        if policy == "text":
            span["text"] = tokenizer.text(run_ids)
        yield span
