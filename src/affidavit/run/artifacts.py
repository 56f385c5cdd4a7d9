"""What a run saved as models, looked at once, when it is sealed: which files are there, and what is in them.

A checkpoint of 140 GB must not stall a step, so the training process says no more than where it saved. Whoever seals
reads the files: whole ones up to 64 MiB, of larger ones samples, under a name that says so. A file that was touched
after the run ended is not what the run wrote, and gets no digest.

Source: model_signing (a digest's name records every parameter that changes it); DESIGN §8 (whence).
Blind to: savers that no adapter knows (``numpy.save``, ``pickle.dump``, a distributed checkpoint of torch's own);
in a sampled file, a change between the samples that keeps its size; a file server whose clock is a minute ahead.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.attach.mark import FOLDERS
from affidavit.fact import folder as names
from affidavit.fact.journal import Save
from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Table, Tally
from affidavit.record.artifact import WHOLE
from affidavit.record.record import Fact
from affidavit.run.gathered import Gathered
from affidavit.run.process import myself

WHOLE_BYTES = 64 << 20
"""A larger file is sampled: reading a model of 140 GB would keep whoever seals for minutes."""
SAMPLES, SAMPLE_BYTES = 16, 1 << 20
SAMPLED = f"sha256-size-{SAMPLES}x1mib-even"
"""sha256 of the file's size in decimal and a line feed, then of 16 blocks of 1 MiB, the first at its beginning, the
last at its end, the others at equal distances between."""
SECONDS, SECONDS_PER_GB = 2.0, 0.2
"""How long digesting may take."""
LATE_SECONDS = 60.0
"""A file that was touched so long after the end of the run was touched by somebody else."""
ROWS = 512
PLACES = 256
EARLY_SECONDS = 2.0
"""The coarsest clock of a file system: what a saver wrote may look older than its call by so much."""
WEIGHTS = frozenset((".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".distcp", ".npz", ".h5", ".msgpack"))
"""How the name of a file of tensors ends."""
_OF_A_MODEL = WEIGHTS | {".json", ".model", ".tiktoken", ".txt", ".jinja", ".md", ".py", ".yaml", ".yml", ".onnx"}
"""What a saver of models writes; a folder that a script chose may hold its logs, too."""
_BESIDE = frozenset((".pkl", ".pickle"))
_EVERYTHING = ("checkpoint", "state")
"""Forms of a folder that is all the saver's own, with the folders in it."""
_STATES = (
    "digested whole",
    "digested in samples",
    "touched after the run",
    "out of time",
    "unreadable",
    "beyond the list",
)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where something was saved: by the last save that went there, with the time of the first."""

    path: str
    form: str
    step: int
    began: float
    ended: float
    mark: str
    host: str


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A file of a place as it lies there now."""

    path: Path
    step: int
    bytes: int
    touched: float


def artifact_facts(
    gathered: Gathered,
    *,
    project: Path,
    ended: float,
    silence: Unknown,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Fact, ...]:
    """Return what a run that is over saved, and the digests of what of it is still there.

    Args:
        ended: when its last process ended, Unix seconds.
        silence: why nothing is known where no process left a journal.
    """
    terms = ("artifact.saves", "artifact.files", "artifact.files_by_state")
    if not gathered.trainers:
        return tuple(Fact(name=name, state=silence) for name in terms)
    places = _places(gathered)
    found = {one.path: one for place in reversed(places) for one in _files(place)}  # the newest save has the last word
    saves = (save.ended for one in gathered.trainers for save in one.reading.saves)
    kept, counts = _digested(_in_order(found.values()), ended=max([ended, *saves]), clock=clock)
    rows = tuple((_shown(str(one.path), project), digest, one.bytes, one.step) for one, digest in kept)
    beyond = max(len(rows) - ROWS, 0)
    counts["beyond the list"] = beyond
    files: State = Known(
        Table(("path", "digest", "bytes", "step"), rows[:ROWS]), Method.INSPECTED, "read when the run was sealed"
    )
    if counts["out of time"] and not rows:
        files = Unknown(Cause.TIME_LIMIT, f"{counts['out of time']} files could not be read in time")
    saved = tuple(
        (_shown(one.path, project), one.form, one.step, _instant(one.ended), _state(one), one.mark) for one in places
    )
    if len(saved) > PLACES:
        saved = (*saved[:PLACES], (f"and {len(saved) - PLACES} more", "", 0, "", "", ""))
    states: tuple[State, ...] = (
        Known(
            Table(("path", "form", "step", "time", "state", "mark"), saved), Method.EXECUTED, "savers that were heard"
        ),
        files,
        Known(Tally.count("files", counts), Method.INSPECTED, "read when the run was sealed"),
    )
    return tuple(Fact(name=name, state=state) for name, state in zip(terms, states, strict=True))


def digest(path: Path) -> str:
    """Return ``algorithm:hex`` of a file's content: of every byte, or of samples where it is large.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is no plain file")
        if status.st_size <= WHOLE_BYTES:
            return f"{WHOLE}:{hashlib.file_digest(file, hashlib.sha256).hexdigest()}"
        state = hashlib.sha256(f"{status.st_size}\n".encode())
        for number in range(SAMPLES):
            at = (status.st_size - SAMPLE_BYTES) * number // (SAMPLES - 1)
            state.update(os.pread(descriptor, SAMPLE_BYTES, at))
        return f"{SAMPLED}:{state.hexdigest()}"


def is_model_file(name: str) -> bool:
    """Say whether a file's name is one that savers of models write; our own mark is none."""
    path = Path(name)
    ours = path.name == names.MARK or path.name.startswith(".")
    return not ours and path.suffix in (*_OF_A_MODEL, *_BESIDE)


def is_weight(name: str) -> bool:
    """Say whether a file's name is one of weights; what else a trainer keeps beside them may be equal in every run."""
    beside = ("training_args", "optimizer", "scheduler", "rng_state", "random_states", "scaler")
    path = Path(name)
    return path.suffix in WEIGHTS and not path.name.startswith(beside)


def _places(gathered: Gathered) -> tuple[_Place, ...]:
    """Return each place that anything was saved to, the newest first; a file inside of a saved folder is part of it."""
    found: dict[str, _Place] = {}
    for one in sorted(gathered.trainers, key=lambda one: one.reading.generation):
        for save in one.reading.saves:
            before = found.pop(save.path, None)
            found[save.path] = _merged(save, before, one.host)
    folders = {place.path for place in found.values() if place.form in FOLDERS}
    whole = [place for place in found.values() if place.form in FOLDERS or not folders.intersection(_above(place.path))]
    whole.reverse()
    return tuple(sorted(whole, key=lambda place: -place.step))


def _merged(save: Save, before: _Place | None, host: str) -> _Place:
    """Return the place of a save: what a loop calls its checkpoint was written by a saver just before."""
    form = before.form if before and before.form in _EVERYTHING and save.form != "file" else save.form
    began = before.began if before else save.began
    return _Place(path=save.path, form=form, step=save.step, began=began, ended=save.ended, mark=save.mark, host=host)


def _above(path: str) -> Iterator[str]:
    return (str(above) for above in Path(path).parents)


def _files(place: _Place) -> Iterator[_Found]:
    """Yield the files that lie in a place, links left out: what they point to was not written by the saver."""
    path = Path(place.path)
    if place.form not in FOLDERS:
        yield from _found((path,), place.step)
    elif place.form in _EVERYTHING:
        inside = (Path(top, name) for top, _, held in os.walk(path) for name in held)
        yield from _found(inside, place.step)
    else:
        folders = (path, *(one.parent for one in path.glob("*/adapter_config.json")))
        inside = (one for folder in folders if folder.is_dir() for one in folder.iterdir())
        wanted = (one for one in inside if one.suffix in _OF_A_MODEL)
        yield from (one for one in _found(wanted, place.step) if one.touched >= place.began - EARLY_SECONDS)


def _found(paths: Iterable[Path], step: int) -> Iterator[_Found]:
    for path in paths:
        try:
            status = path.lstat()
        except OSError:
            continue
        ours = path.name == names.MARK or path.name.startswith(".")
        if stat.S_ISREG(status.st_mode) and not ours:
            yield _Found(path=path, step=step, bytes=status.st_size, touched=status.st_mtime)


def _in_order(found: Iterable[_Found]) -> list[_Found]:
    """Return files so that the list holds what matters where it cannot hold all: the newest, weights first."""
    return sorted(found, key=lambda one: (-one.step, not is_weight(one.path.name), str(one.path)))


def _digested(
    found: Sequence[_Found], *, ended: float, clock: Callable[[], float]
) -> tuple[list[tuple[_Found, str]], dict[str, int]]:
    """Return the files with their digests, and how many are in which state."""
    counts = dict.fromkeys(_STATES, 0)
    kept: list[tuple[_Found, str]] = []
    until = clock() + SECONDS + SECONDS_PER_GB * sum(one.bytes for one in found) / 1e9
    for one in found:
        if one.touched > ended + LATE_SECONDS:
            counts["touched after the run"] += 1
        elif clock() > until:
            counts["out of time"] += 1
        else:
            try:
                said = digest(one.path)
            except OSError:
                counts["unreadable"] += 1
                continue
            counts["digested whole" if said.startswith(f"{WHOLE}:") else "digested in samples"] += 1
            kept.append((one, said))
    return kept, counts


def _state(place: _Place) -> str:
    """Say what became of a place: rotated away is known, and so is that nobody can know it from another host."""
    if "://" in place.path:
        return "elsewhere"
    if os.path.lexists(place.path):
        return "there"
    here = "".join(letter if letter.isalnum() else "_" for letter in myself().host)
    return "gone" if place.host == here else f"not seen from {myself().host}"


def _instant(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _shown(path: str, project: Path) -> str:
    return str(Path(path).relative_to(project)) if Path(path).is_relative_to(project) else path
