"""What a function makes of the rows of a dataset, batch by batch, in the columns that ``Dataset.map`` would write.

Batches lie where they lie in an unsplit ``map``, however many processes share the work: a function that looks at its
batch as a whole gives the same rows.

Source: datasets 5.2 arrow_dataset (``_map_single``) and arrow_writer.
Blind to: a function that remembers earlier batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.cache.encoding.masks import IGNORED, Masker, Policy
from affidavit.fact.errors import AffidavitError, refusal

_PACK_BYTES = 8 << 20


class ReturnedError(AffidavitError):
    """A function returned what are no columns."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """One function over one dataset.

    Args:
        messages: the column of chats that masks are put on.
        features: of the result, where they are said.
    """

    dataset: Any
    function: Callable[..., Any]
    batched: bool = True
    batch_size: int = 1000
    removed: frozenset[str] = frozenset()
    features: Any = None
    masks: Sequence[Policy] = ()
    tokenizer: Any = None
    messages: str = "messages"
    raised: list[Exception] = field(default_factory=list, repr=False)
    """What the function itself raised, to be told from what the store did."""
    _whole: list[Any] = field(default_factory=list, repr=False)

    def write(self, path: Path, begin: int, stop: int, features: Any, alive: Callable[[], None]) -> Written:
        """Write what becomes of some rows to a file, holding no more of them than a batch."""
        from datasets.arrow_writer import ArrowWriter

        masker = Masker(self.masks, self.tokenizer) if self.masks else None
        loose = path.with_name(f"{path.name}.loose")
        try:
            with ArrowWriter(path=str(loose), **self._form(features)) as writer:
                for at in range(begin, stop, self.batch_size):
                    alive()
                    self._write(writer, at, min(at + self.batch_size, stop), masker)
                rows, _ = writer.finalize()
            counted: dict[str, Any] = _packed(loose, path)
        finally:
            loose.unlink(missing_ok=True)
        if masker is not None:
            counted["masks"] = masker.coverage.facts()
        return Written(rows, counted)

    def table(self, begin: int, stop: int, features: Any) -> Any:
        """Return what becomes of some rows, in memory."""
        import pyarrow
        from datasets.arrow_writer import ArrowWriter

        sink = pyarrow.BufferOutputStream()
        masker = Masker(self.masks, self.tokenizer) if self.masks else None
        with ArrowWriter(stream=sink, **self._form(features)) as writer:
            for at in range(begin, stop, self.batch_size):
                self._write(writer, at, min(at + self.batch_size, stop), masker)
            writer.finalize(close_stream=False)
        return pyarrow.ipc.open_stream(sink.getvalue()).read_all()

    def features_of_first(self) -> Any:
        """Return the columns that the first batch with any rows has, for all who write without having seen it."""
        from datasets import Features

        for at in range(0, len(self.dataset), self.batch_size):
            table = self.table(at, min(at + self.batch_size, len(self.dataset)), None)
            if table.num_rows:
                return Features.from_arrow_schema(table.schema)
        return None

    def _form(self, features: Any) -> dict[str, Any]:
        said = features if features is not None else self.features
        if said is not None:
            return {"features": said, "update_features": False}
        return {"features": self.dataset.features, "update_features": True}

    def _write(self, writer: Any, begin: int, stop: int, masker: Masker | None) -> None:
        made = self._called(begin, stop)
        if masker is not None:
            made["labels"] = masker.labels(
                self.dataset[begin:stop][self.messages], made["input_ids"], made.get("labels"), row=begin
            )
        kept = [name for name in self.dataset.column_names if name not in self.removed]
        if kept:
            table = self._arrow()[begin:stop].select(kept)
            made = {**dict(zip(kept, table.itercolumns())), **made}
        writer.write_batch(made)

    def _arrow(self) -> Any:
        if not self._whole:
            self._whole.append(self.dataset.with_format("arrow"))
        return self._whole[0]

    def _called(self, begin: int, stop: int) -> dict[str, Any]:
        if self.batched:
            return self._columns(self.dataset[begin:stop])
        made: dict[str, Any] = {}
        for place in range(begin, stop):
            row = self._columns(self.dataset[place])
            if made and row.keys() != made.keys():
                raise _refusal(f"the columns of the rows before, {', '.join(made)}", ", ".join(row))
            for name, value in row.items():
                made.setdefault(name, []).append(value)
        return made

    def _columns(self, rows: Any) -> dict[str, Any]:
        try:
            made = self.function(rows)
        except Exception as error:
            self.raised.append(error)
            raise
        if not isinstance(made, Mapping):
            raise _refusal("columns by name", type(made).__name__)
        return dict(made)


@dataclass(frozen=True)
class Written:
    """How many rows were written, and what is counted of them."""

    rows: int
    facts: dict[str, Any]


def _refusal(expected: str, saw: str) -> ReturnedError:
    return ReturnedError(
        refusal(
            subject="what the function returned",
            expected=expected,
            saw=saw,
            means="These are no rows that could be stored.",
            action="Return a dict of columns, as for Dataset.map.",
            unaffected="the rows that went in",
        )
    )


def _packed(loose: Path, path: Path) -> dict[str, Any]:
    """Write a shard's batches as fewer and longer ones, and return how many tokens there are and are learned from.

    A reader looks at every batch of every file before it has a dataset: short ones are most of what a hit costs.
    """
    import pyarrow

    counted: dict[str, Any] = {}
    with (
        pyarrow.memory_map(str(loose)) as source,
        pyarrow.ipc.open_stream(source) as reader,
        pyarrow.OSFile(str(path), "wb") as file,
        pyarrow.ipc.new_stream(file, reader.schema) as writer,
    ):
        held: list[Any] = []
        for batch in reader:
            held.append(batch)
            if sum(one.nbytes for one in held) > _PACK_BYTES:
                _pack(held, writer, counted)
        _pack(held, writer, counted)
    return counted


def _pack(held: list[Any], writer: Any, counted: dict[str, Any]) -> None:
    import pyarrow
    import pyarrow.compute

    if not held:
        return
    table = pyarrow.Table.from_batches(held)
    held.clear()
    writer.write_table(table.combine_chunks())
    for name, called in (("input_ids", "tokens"), ("labels", "labels")):
        if name in table.column_names and _is_list_of_ints(table.schema.field(name).type):
            values = pyarrow.compute.list_flatten(table.column(name))
            counted[called] = counted.get(called, 0) + len(values)
            if name == "labels":
                lit = pyarrow.compute.sum(pyarrow.compute.not_equal(values, IGNORED)).as_py()
                counted["supervised"] = counted.get("supervised", 0) + int(lit or 0)


def _is_list_of_ints(kind: Any) -> bool:
    import pyarrow

    is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
    return bool(is_list and pyarrow.types.is_integer(kind.value_type))


def summed(facts: Iterator[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what shards counted, added up; of lists the beginning."""
    total: dict[str, Any] = {}
    for one in facts:
        for name, value in one.items():
            if isinstance(value, Mapping):
                total[name] = summed(iter((total.get(name, {}), value)))
            elif isinstance(value, list):
                total[name] = [*total.get(name, []), *value][:64]
            else:
                total[name] = total.get(name, 0) + value
    return total
