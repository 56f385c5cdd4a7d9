"""Tokens: which of them carry a label when they enter the model, by role and by turn, and how rows begin and end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import Asked, Batch, Loaded, Prepared, StepBegin, StepEnd, TrainBegin
from affidavit.attach.tokenizer import Tokenizer
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Tally, Value
from affidavit.instruments.tokens.ends import Ends
from affidavit.instruments.tokens.prompt import NO_TEMPLATE, Prompt
from affidavit.instruments.tokens.rows import Row, is_id_matrix, opened, rows
from affidavit.instruments.tokens.turns import TEXT, Marker, Run, markers, runs

EACH_TOKEN, EACH_ROW, NO_TEXT = "each token", "each row", "no text"
CHAT, IDS = "chat", "ids"
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
    """Emits the census of labels and of ends over the batches of the sampled step, and keeps spans to be shown.

    Counts what enters the model, behind every collator, mask column and cache. Padding is left out; a row that was
    packed of several is read as several, where positions that restart say so.

    Source: silent-failure-corpus D1 to D3; hf-stack-spike §4 (coverage with masks that were ignored).
    Blind to: labels that never enter the model because the script computes its own loss; rows beyond the first 256;
    what was cut off of rows that were packed without positions.
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
        "tokens.form",
        "tokens.rows_by_label",
        "tokens.answers",
        "tokens.terminators",
        "tokens.rows_by_end",
        "tokens.doubled",
        "tokens.prompt",
    )
    of_labels = emits[1:7]
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
        self._form = NO_TEXT
        self._ends = Ends()
        self._prompt: Prompt | None = None

    @at(Loaded)
    def loaded(self, moment: Loaded, emit: Emit) -> None:
        if moment.kind == "tokenizer":
            self._tokenizer = moment.item  # type: ignore[assignment]

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        if moment.tokenizer is not None:
            self._tokenizer = moment.tokenizer  # type: ignore[assignment]

    @at(Prepared)
    def prepared(self, moment: Prepared, emit: Emit) -> None:
        self._ends.regrouped = moment.regrouped

    @at(Batch, sampled=True)
    def batch(self, moment: Batch, emit: Emit) -> None:
        inputs = opened(moment.inputs)
        by_token = self._labels.are_by_token(inputs)
        if not is_id_matrix(inputs.get("input_ids")):
            return
        if self._tokenizer is None:
            self._form = IDS
            return
        if self._markers is None:
            self._markers = markers(self._tokenizer)
            self._prompt = Prompt.of(self._tokenizer, self._markers)
            self._form = TEXT
        for row in rows(inputs, self._tokenizer, labelled=by_token):
            if self._rows < ROWS_COUNTED:
                self._count(row, emit.tokens_policy)

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        entered = f"that entered the model in step {moment.step}"
        self._labels.say(emit, f"batch {entered}")
        self._say_ends(emit, f"{self._rows} rows {entered}")
        if not self._seen:
            self._say_why_not(emit)
            return
        source = f"labels of {self._rows} rows {entered}"
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
        self._tokenizer = self._prompt = None

    def _say_why_not(self, emit: Emit) -> None:
        for term in self.of_labels:
            if self._labels.kind != EACH_TOKEN:
                emit.unknown(term, Cause.NO_OPERATION, self._labels.why)
            elif self._tokenizer is None:
                emit.unknown(term, Cause.NO_TOKENIZER, "name it with affidavit.observe(tokenizer=…)")

    def _say_ends(self, emit: Emit, source: str) -> None:
        emit.known("tokens.form", self._form, source=source, method=Method.EXECUTED)
        for term, tally in self._ends.tallies().items():
            emit.known(term, tally, source=source, method=Method.EXECUTED)
        value, why = self._prompt.told() if self._prompt is not None else (NO_TEMPLATE, "no text was read")
        emit.known("tokens.prompt", value, source=f"{why}; {source}", method=Method.EXECUTED)

    def _count(self, row: Row, policy: str) -> None:
        tokenizer = self._tokenizer
        assert tokenizer is not None and self._markers is not None
        pieces = tokenizer.pieces(row.ids)
        found = runs(pieces, self._markers)
        self._ends.take(row, found, tokenizer, self._markers)
        if any(run.turn >= 0 and run.role != TEXT for run in found):
            self._form = CHAT
            if self._prompt is not None and self._rows < ROWS_KEPT:
                self._prompt.hold(pieces, found)
        if row.lit:
            for run in found:
                self._count_run(run, row.lit)
            if self._rows < ROWS_KEPT:
                spans = list(_spans(found, row, policy, tokenizer))
                self._kept.append(json.dumps({"row": self._rows, "spans": spans}, ensure_ascii=False))
        self._rows += 1

    def _count_run(self, run: Run, row_lit: Sequence[bool]) -> None:
        tokens, lit = run.stop - run.first, sum(row_lit[run.first : run.stop])
        self._seen[run.role] += tokens
        self._lit[run.role] += lit
        if run.turn >= 0:
            counts = self._turns.setdefault((min(run.turn, TURNS_NAMED), run.role), Counter())
            ends = run.closed and row_lit[run.stop - 1]
            counts.update(turns=1, tokens=tokens, supervised=lit, closed=int(run.closed), ends=int(ends))

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
            text = [name for name, value in inputs.items() if is_id_matrix(value)]
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


def _spans(found: Sequence[Run], row: Row, policy: str, tokenizer: Tokenizer) -> Iterator[dict[str, object]]:
    """Yield the stretches of a row that are lit or dark throughout, within one turn."""
    for run in found:
        first = run.first
        while first < run.stop:
            is_lit = row.lit[first]
            stop = next((at for at in range(first, run.stop) if row.lit[at] != is_lit), run.stop)
            ids = row.ids[first:stop]
            span: dict[str, object] = {"role": run.role, "turn": run.turn, "lit": is_lit, "tokens": len(ids)}
            if policy in ("ids", "text"):
                span["ids"] = ids
            if policy == "text":
                span["text"] = tokenizer.text(ids)
            yield span
            first = stop
