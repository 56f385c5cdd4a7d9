"""What stays open in somebody else's program is never one of its standard streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from affidavit.fact.descriptor import hold
from affidavit.fact.journal import read

STREAMS_CLOSED = """
import os, sys
from pathlib import Path
os.closerange(0, 3)
from affidavit.attach.heartbeat import Heartbeat
from affidavit.fact.journal import Journal
journal = Journal(Path("journal"), process="host-1-1", details={"attempt": 0})
beat = Heartbeat(Path("beat"))
for number in range(3):
    try:
        os.write(number, b"a library's warning")
    except OSError:
        continue
    os._exit(9)
if len(os.listdir("/proc/self/fd")) != 3:  # the journal, the heartbeat, and the listing itself
    os._exit(8)
beat.beat(7)
journal.close("exit")
"""


def test_what_is_written_to_a_closed_stream_stands_in_no_file_of_ours(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", STREAMS_CLOSED], cwd=tmp_path, env=environment, check=False)
    assert ended.returncode == 0
    assert not read(tmp_path / "journal").torn
    assert b"warning" not in (tmp_path / "beat").read_bytes() + (tmp_path / "journal").read_bytes()


def test_what_is_held_is_inherited_by_no_child(tmp_path: Path) -> None:
    descriptor = hold(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    assert descriptor > 2 and not os.get_inheritable(descriptor)
    os.close(descriptor)


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hold(tmp_path / "none" / "file", os.O_WRONLY | os.O_CREAT)
