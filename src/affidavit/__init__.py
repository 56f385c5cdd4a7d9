"""A training run's sworn statement about itself.

    affidavit run -- python train.py …

puts one command in front of an unchanged script. Where no command can stand in front, one line in the script does:

    import affidavit
    affidavit.observe()

and in a notebook ``%load_ext affidavit``. ``@affidavit.cached`` keeps results under a key that covers what they
are made from, and ``affidavit.call(TrainingArguments, settings)`` makes an object whose settings all have a name that
somebody reads. ``affidavit.measurement`` keeps a number with what it was true of. Everything else is reached through
its module.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from affidavit.fact import VERSION

if TYPE_CHECKING:
    from affidavit.attach.tokenizer import Tokenizer
    from affidavit.cache.encoding.cached import cached
    from affidavit.names.call import call
    from affidavit.run.measure.said import measurement

__version__ = VERSION
__all__ = ["__version__", "cached", "call", "load_ipython_extension", "measurement", "observe"]


def __getattr__(name: str) -> Any:
    """Load a part for who asks for it; an interpreter that only attaches does not pay for one."""
    if name == "cached":
        return importlib.import_module("affidavit.cache.encoding.cached").cached
    if name == "call":
        return importlib.import_module("affidavit.names.call").call
    if name == "measurement":
        return importlib.import_module("affidavit.run.measure.said").measurement
    if name == "cache":
        return importlib.import_module("affidavit.cache")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def observe(*, tokenizer: Tokenizer | None = None, project: str = ".", tokens: str = "", recipe: str = "") -> str:
    """Watch the training of this process from here on, and return the run's id.

    Under ``affidavit run`` the run is watched already, and only ``tokenizer`` is taken from here.

    Args:
        tokenizer: the one that made the batches, where a plain loop gives no other way to know it.
        project: the folder whose code is first-party, where ``.affidavit/`` is made.
        tokens: ``off``, ``ids`` or ``text``: how much of the data the record may keep; "" for the settings' choice.
        recipe: the name under which runs are held against each other; the script's by default.

    Raises:
        AffidavitError: the run cannot be recorded; nothing was changed then, and training may go on without.

    Blind to: what happened before this line; those facts are Unknown(ATTACHED_LATE).
    """
    from affidavit import boot

    if not boot.is_attached():
        from pathlib import Path

        from affidavit.run.embed import attach_here

        attach_here(project=Path(project).resolve(), tokens=tokens, recipe=recipe)
    if tokenizer is not None:
        boot.name_tokenizer(tokenizer)
    return boot.session().launch.run


def load_ipython_extension(shell: Any) -> None:
    """Watch the training of a notebook from here on: ``%load_ext affidavit``."""
    run = observe()
    sys.stdout.write(f"affidavit: watching run {run}; after training: !affidavit show {run}\n")
