"""A world whose caches are watched, for the tests of what they serve."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import datasets as library
import joblib.memory
import pytest
from twodays import World

from affidavit.adapters import joblib as memories
from affidavit.adapters.datasets import hits, loads
from affidavit.attach.session import Session

SCRIPTS = Path(hits.__file__).parents[2] / "demo/scripts"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    for kind, names in (
        (library.Dataset, ("map", "from_file")),
        (library.DatasetBuilder, ("download_and_prepare",)),
        (joblib.memory.MemorizedFunc, ("_load_item", "_cached_call")),
    ):
        for name in names:
            monkeypatch.setattr(kind, name, kind.__dict__[name])
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    session = cast(Session, made)
    hits.bind(cast(types.ModuleType, library.arrow_dataset), session)
    loads.bind(cast(types.ModuleType, library.builder), session)
    memories.bind(joblib.memory, session)
    library.disable_progress_bars()
    yield made
    for name in made.names:
        sys.modules.pop(name, None)
