"""On which code a check was proved: its own module, and the modules beside it that it imports, read as text.

Source: playbook §4.6. Blind to: the engine and the words that every check stands on; they are tested, and have the
version of Affidavit for their name.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from affidavit.check.rule import Check


def digest_of(check: Check) -> str:
    """Return the SHA-256 of a check's code, or "" where its source is not on disk."""
    package, _, name = check.judge.__module__.rpartition(".")
    module = sys.modules.get(check.judge.__module__)
    source = getattr(module, "__file__", None)
    if not source or not Path(source).is_file():
        return ""
    folder, pending, read = Path(source).parent, [name], dict[str, bytes]()
    beside = re.compile(
        rf"^[ \t]*(?:from[ \t]+(?:{re.escape(package)})?\.(\w+)[ \t]+import|import[ \t]+{re.escape(package)}\.(\w+))",
        re.MULTILINE,
    )
    while pending:
        name = pending.pop()
        path = folder / f"{name}.py"
        if name in read or not path.is_file():
            continue
        read[name] = path.read_bytes()
        text = read[name].decode(errors="replace")
        pending += [one or other for one, other in beside.findall(text)]
    whole = hashlib.sha256()
    for name, raw in sorted(read.items()):
        whole.update(f"{name}\0{len(raw)}\0".encode() + raw)
    return whole.hexdigest()
