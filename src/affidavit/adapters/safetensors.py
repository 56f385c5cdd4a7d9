"""safetensors → moments: where a file of tensors is saved.

Its native writer raises no audit event, so in a rehearsal its target is chosen here.
Blind to: a writer that imported ``serialize_file`` or ``save_file`` under another name before us.
"""

from __future__ import annotations

from typing import Any

from affidavit.attach import veto
from affidavit.attach.saving import heard
from affidavit.attach.session import Session


def _bind_writer(module: Any, session: Session) -> None:
    protector = veto.active()
    if protector is None:
        module.save_file = heard(module.save_file, session, form="file", path="filename")
    else:
        module.serialize_file = protector.redirecting(module.serialize_file, place=1, name="filename")


BINDS = {"safetensors.torch": _bind_writer}
