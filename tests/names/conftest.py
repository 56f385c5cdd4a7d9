from __future__ import annotations

import sys
from pathlib import Path

import pytest

from affidavit.names import consumed


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The script of these tests is the module they stand in: others of this process say the same misspelt words."""
    every, mine = consumed._own_files, str(request.module.__file__)
    # A worker's main program is no file; that is how a notebook looks, where everything counts as read.
    monkeypatch.setattr(sys.modules["__main__"], "__file__", mine, raising=False)
    monkeypatch.setattr(
        consumed, "_own_files", lambda: (path for path in every() if path == mine or path.startswith(str(tmp_path)))
    )
