"""safetensors, in rehearsals only: its native writer raises no audit event, so its target is chosen here.

Blind to: a writer that imported ``serialize_file`` under another name before us.
"""

from __future__ import annotations

import functools
from typing import Any

from affidavit.attach import veto
from affidavit.attach.session import Session


def _bind_writer(module: Any, session: Session) -> None:
    protector = veto.active()
    if protector is None:
        return
    write = module.serialize_file

    @functools.wraps(write)
    def written(data: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
        target = protector.redirected(filename) if protector.protects(filename) else filename
        return write(data, target, *args, **kwargs)

    module.serialize_file = written


BINDS = {"safetensors.torch": _bind_writer}
