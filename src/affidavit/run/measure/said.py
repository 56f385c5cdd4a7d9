"""``affidavit.measurement``: a number that a program measured itself, kept with what it was true of.

Source: playbook §4.7.
Blind to: whether the program measured what it says that it did; a function behind a wrapper that does not name it
(``functools.wraps``): the wrapper is covered then.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, SupportsFloat

from affidavit.attach.redact import redact
from affidavit.record import covered
from affidavit.record import measurement as kept
from affidavit.record.measurement import Measurement
from affidavit.run.attempt import now
from affidavit.run.measure import identity
from affidavit.run.measure.device import device
from affidavit.run.measure.error import unmeasured
from affidavit.run.measure.number import number_of
from affidavit.settings import find_root

Code = Callable[..., object] | type | str | Path
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
"""Where a launcher says which of many processes this is; the first that is set counts."""


def measurement(
    name: str,
    value: SupportsFloat | Iterable[SupportsFloat],
    *,
    unit: str,
    covers: Code | Iterable[Code] = (),
    seat: str = "",
    note: str = "",
    project: str | Path = ".",
) -> Measurement | None:
    """Append a number to ``measurements.jsonl`` and return its line; None on every rank but the first.

    Args:
        name: the id that a claim carries, in kebab-case.
        value: a number in ``unit``, or several, of which the median is kept with its spread; arrays count as several.
        covers: what was measured: a function, a class, a file, "path:function", or several of them; the claim is stale
            once one of them has changed.
        seat: what else it depends on, in words.

    Raises:
        AffidavitError: it has no such name or no finite value, covers what is not in this project, or cannot be kept.
    """
    if next((said for name in _RANKS if (said := os.environ.get(name))), "0") != "0":
        return None
    root = find_root(Path(project))
    number = number_of(_numbers(value))
    several = covers if isinstance(covers, Iterable) and not isinstance(covers, str | type) else [covers]
    found = [covered.cover(_target(one, root), root) for one in several]
    code = {one.target: one.digest for one in found}
    interpreter = identity.this_interpreter()
    stands = identity.standing(_files(code, root), root, interpreter)
    line = Measurement(
        name=name,
        value=number.value,
        unit=unit,
        spread=number.spread,
        spread_is=number.spread_is,
        n=number.n,
        date=now(),
        command=identity.told_command(sys.orig_argv, root),
        commit=stands.commit,
        tree=stands.tree,
        device=device(),
        packages=identity.packages(interpreter),
        code=code,
        run=identity.run_around(),
        seat=redact(seat),
        note=redact(note),
    )
    kept.append(root / kept.FILE, [line])
    return line


def _numbers(value: Any) -> list[float]:
    """Return what a program holds as a number or several, whichever library made it."""
    try:
        several = [value] if isinstance(value, str | bytes) or not isinstance(value, Iterable) else list(value)
    except TypeError:  # an array without a dimension says that it can be iterated over, and cannot
        several = [value]
    try:
        if any(isinstance(one, str | bytes) for one in several):
            raise TypeError("text")
        return [float(one) for one in several]
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise unmeasured(
            subject="value",
            expected="a number, or several",
            saw=f"{value!r:.80} ({error})",
            action="Give the number itself.",
        ) from error


def _files(code: Iterable[str], root: Path) -> list[Path]:
    """Return the files that were measured and the script that says so."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    own = [Path(script).resolve()] if script else []
    return [*(root / target.partition(":")[0] for target in code), *own]


def _target(one: Code, root: Path) -> str:
    """Return what a piece of code is called: a function under whatever was wrapped around it."""
    if isinstance(one, str | Path):
        return str(one.relative_to(root)) if isinstance(one, Path) and one.is_relative_to(root) else str(one)
    bare: Any = inspect.unwrap(one) if callable(one) else one
    while isinstance(bare, functools.partial):
        bare = inspect.unwrap(bare.func)
    try:
        path = Path(inspect.getfile(bare)).resolve()
        return f"{path.relative_to(root.resolve())}:{bare.__qualname__}"
    except (TypeError, ValueError, OSError, AttributeError) as error:
        raise unmeasured(
            subject=f"covered {one!r:.80}",
            expected="a function, a class or a file of this project",
            saw=str(error) or type(error).__name__,
            action='Name it as "path:function".',
        ) from error
