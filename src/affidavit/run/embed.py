"""A run without a launcher: the process that trains is its own supervisor, from the line that says so.

For notebooks, Ray workers and scripts whose start is out of reach. What happened before that line is Unknown
(ATTACHED_LATE), the exit code is never seen, and whoever looks next seals it if this process is killed.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import affidavit
from affidavit import adapters, boot
from affidavit.attach import early
from affidavit.attach.launch import VARIABLE
from affidavit.record.manifest import Status
from affidavit.record.record import Kind
from affidavit.run import attempt as attempts
from affidavit.run.attempt import Ended
from affidavit.run.command import Command, script_recipe
from affidavit.run.launch import Prepared, prepare
from affidavit.run.outset import examine
from affidavit.run.plugins import load_house
from affidavit.run.spool import publish
from affidavit.settings import find_root
from affidavit.settings import load as load_settings


def attach_here(*, project: Path, tokens: str, recipe: str) -> Prepared:
    """Attach to this very process and return its attempt, whose run folder and spool exist.

    Raises:
        AffidavitError: the settings, a plugin or the run folder are not usable; nothing is attached then.
    """
    root = find_root(project)
    house = load_house(root)
    settings = load_settings(root, house.vocabulary)
    command = _this_process()
    environment = dict(os.environ)
    answer = examine(
        command,
        project=root,
        environment=environment,
        settings=settings,
        house=house,
        gate="allow",
        reason="it runs already",
    )
    prepared = prepare(
        command,
        project=root,
        environment=environment,
        recipe=recipe,
        kind=Kind.RUN,
        tokens=tokens or settings.tokens,
        marks=settings.marks,
        canary_seconds=settings.canary_seconds,
        plugins=house.plugins,
    )
    prepared.state(answer.facts)
    with suppress(OSError):
        attempts.write_child(prepared.folder, prepared.start, prepared.start.supervisor)
    for name in (VARIABLE, "PYTHONPATH"):  # so that ranks which this process spawns are seen too
        os.environ[name] = prepared.environment[name]
    _start_late()
    atexit.register(finish, prepared)
    return prepared


def finish(prepared: Prepared) -> None:
    """Say that this process ends and publish what it saw; an uncaught error is the only bad end it can know of."""
    boot.session().close("exited")
    notebook = "ipykernel" in sys.modules  # every cell that ever failed leaves its error there
    failed = None if notebook else getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    ended = Ended(
        status=Status.FAILED if failed is not None else Status.FINISHED,
        code=1 if failed is not None else 0,
        signal=0,
        ended=attempts.now(),
        notes=("the process watched itself, so its exit code was not seen",),
    )
    publish(prepared.spool, prepared.folder)
    with suppress(OSError):
        attempts.write_ended(prepared.folder, prepared.start, ended)


def _start_late() -> None:
    """Start the early half in a process that has long begun, and bind what it has imported already."""
    sys.modules.setdefault("_affidavit_early", early)
    package = Path(affidavit.__file__).parent
    early.start(str(package))
    early.listing.late = True
    for found in sorted(Path(adapters.__file__).parent.iterdir()):
        name = found.name.removesuffix(".py")
        if not name.startswith("_") and isinstance(sys.modules.get(name), ModuleType):
            boot.wake(name)


def _this_process() -> Command:
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    script = Path(main).resolve() if main else None
    return Command(
        argv=tuple(sys.orig_argv),
        executable=Path(sys.executable),
        cwd=Path.cwd(),
        script=script,
        module="",
        interpreter=Path(sys.executable),
        configs=(),
        recipe=script_recipe(script, sys.argv[1:], Path.cwd()) if script else "notebook",
    )
