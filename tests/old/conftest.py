"""The older stack, imported and attached once for all its cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from server import Server


@pytest.fixture(scope="session")
def old_server(old_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of the worlds, with the older frameworks in it."""
    with Server(tmp_path_factory.mktemp("old"), interpreter=old_python) as server:
        yield server
