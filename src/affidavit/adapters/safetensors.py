"""safetensors, in rehearsals only: its native writer raises no audit event, so its target is chosen here.

Blind to: a writer that imported ``serialize_file`` under another name before us.
"""

from __future__ import annotations

from typing import Any

from affidavit.attach import veto
from affidavit.attach.session import Session


def _bind_writer(module: Any, session: Session) -> None:
    protector = veto.active()
    if protector is None:
        return
    module.serialize_file = protector.redirecting(module.serialize_file, place=1, name="filename")


BINDS = {"safetensors.torch": _bind_writer}
