"""Rows of a batch as the model reads them: padding taken off, what was packed taken apart.

Blind to: documents that were packed without positions that restart; labels that the script has shifted itself, which
are none of a causal model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from affidavit.attach.instrument import local
from affidavit.attach.tokenizer import Tokenizer

IGNORED = -100
"""The label that torch's loss leaves out."""


@dataclass(frozen=True)
class Row:
    """The ids of one document, and which of them carry a label: ``lit`` is empty where labels never enter the model.

    ``copied`` says that labels are the ids themselves, as a causal model wants them; masked models want others, and
    leave rows dark by chance. ``masked`` says that an attention mask told where the row ends; without one, padding
    that also ends a text cannot be told. ``unpacked`` says that the row was one of several in one.
    """

    ids: list[int]
    lit: list[bool]
    copied: bool = True
    masked: bool = True
    unpacked: bool = False

    @property
    def taught(self) -> list[bool]:
        """Which ids are taught as what comes next; empty where labels say something else, or nothing."""
        return self.lit if self.copied else []


def opened(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the inputs of a model, those of the batch itself where it enters as one object."""
    if not hasattr(inputs.get("input_ids"), "shape"):
        for value in inputs.values():
            if isinstance(value, Mapping) and "input_ids" in value:
                return value
    return inputs


def is_id_matrix(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 2 and not value.is_floating_point() and value.shape[1] > 1


def rows(inputs: Mapping[str, Any], tokenizer: Tokenizer, *, labelled: bool) -> Iterator[Row]:
    """Yield the documents of a batch of ids (batch, tokens), in order."""
    ids = local(inputs["input_ids"]).tolist()
    labels: list[list[int]] = [[]] * len(ids)
    copied = False
    if labelled:
        beside, told = local(inputs["input_ids"]), local(inputs["labels"])
        labels, copied = told.tolist(), bool(((told == beside) | (told == IGNORED)).all())
    masks = _beside(inputs.get("attention_mask"), ids)
    positions = _beside(inputs.get("position_ids"), ids)
    for place, row_ids in enumerate(ids):
        lit = [label != IGNORED for label in labels[place]]
        mask = masks[place] if masks is not None else _unpadded(row_ids, lit, tokenizer)
        if not all(mask):
            keep = [at for at, stays in enumerate(mask) if stays]
            row_ids = [row_ids[at] for at in keep]
            lit = [lit[at] for at in keep] if lit else lit
        else:
            keep = None
        cuts = _cuts(positions[place], keep) if positions is not None else []
        for first, stop in zip((0, *cuts), (*cuts, len(row_ids))):
            if stop > first:
                yield Row(row_ids[first:stop], lit[first:stop], copied, masks is not None, bool(cuts))


def _beside(value: Any, ids: list[list[int]]) -> list[list[int]] | None:
    """Return a matrix that says something of each id; None where it is another shape."""
    if not is_id_matrix(value) or len(value) != len(ids) or not ids or value.shape[1] != len(ids[0]):
        return None
    return local(value).tolist()  # type: ignore[no-any-return]


def _unpadded(ids: list[int], lit: list[bool], tokenizer: Tokenizer) -> list[bool]:
    """Say which tokens of a row without a mask are not trailing padding; where padding also ends a text, one stays."""
    end = len(ids)
    while end and ids[end - 1] == tokenizer.pad and not (lit and lit[end - 1]):
        end -= 1
    if end < len(ids) and tokenizer.pad in tokenizer.ends:
        end += 1
    return [place < end for place in range(len(ids))]


def _cuts(positions: list[int], keep: list[int] | None) -> list[int]:
    """Return where, among the tokens that stay, another document begins."""
    kept = positions if keep is None else [positions[at] for at in keep]
    return [at for at, position in enumerate(kept) if position == 0 and at and kept[at - 1] != 0]
