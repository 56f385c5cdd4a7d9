"""A notebook's source without what running it left behind."""

from __future__ import annotations

import json
from typing import Final

_NOT_A_NOTEBOOK: Final = "not a notebook of format 4"


def has_same_source(one: bytes, other: bytes) -> bool:
    """Both notebooks hold the same cells; outputs, execution counts and metadata do not count.

    Opening a notebook and running it rewrites the file. That is no edit, and refusing a run for it would
    teach people to switch the gate off.

    Source: playbook §4.4; nbformat 4.
    Blind to: a cell's metadata (a `parameters` tag that papermill reads); older formats read as different.
    """
    try:
        return _cells(one) == _cells(other)
    except ValueError:
        return False


def _cells(raw: bytes) -> tuple[tuple[str, str], ...]:
    """(type, source) of each cell.

    Raises:
        ValueError: not JSON, or not a notebook with a list of cells.
    """
    document = json.loads(raw)
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise ValueError(_NOT_A_NOTEBOOK)
    return tuple(_cell(cell) for cell in cells)


def _cell(cell: object) -> tuple[str, str]:
    if not isinstance(cell, dict) or "source" not in cell:
        raise ValueError(_NOT_A_NOTEBOOK)
    source = cell["source"]
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return str(cell.get("cell_type")), text
