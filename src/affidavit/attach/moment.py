"""Moments: what happens in a training process, with live handles. Adapters fire them; they know no facts.

Handles are the run's own objects. Who receives a moment reads them and returns; keeping one alive, moving it to
another device or iterating it would change the run.

Source: OpenTelemetry instrumentation (an event carries the subject; meaning is added by who listens).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from affidavit.fact.observation import Cause
from affidavit.fact.values import Value


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Something that happened."""


@dataclass(frozen=True, kw_only=True)
class Asked(Moment):
    """The script asked for something: ``subject`` is our name, ``source`` theirs.

    The subject is the term that the request is for. ``attention`` and ``supervision`` have terms of their own for what
    was asked; there an adapter that can hear it fires "unstated" where nobody asked, so that silence is never a guess.
    """

    subject: str
    value: Value
    source: str


@dataclass(frozen=True, kw_only=True)
class Implied(Moment):
    """Nobody in the script asked for ``subject``; ``owner`` decided it: a library default, the environment, a file."""

    subject: str
    owner: str


@dataclass(frozen=True, kw_only=True)
class Unheard(Moment):
    """A request for ``subject`` passed by a place where nobody of ours stood, so that nobody may say "unstated"."""

    subject: str
    cause: Cause
    why: str


@dataclass(frozen=True, kw_only=True)
class Handed(Moment):
    """The script itself handed ``names`` to a callable that refuses none, at ``path:line``.

    ``astray`` says of each that was found unused right after the call where it lies now; somebody may still read it
    there. ``known`` are names that the callable does take, for who looks for the one that was meant. ``sure`` are those
    that were seen to be dropped, whoever else knows the word, each with what was meant, "" where nobody can say.
    """

    callee: str
    names: tuple[str, ...]
    astray: Mapping[str, str]
    known: tuple[str, ...] = ()
    sure: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Loaded(Moment):
    """A loader returned a live object: ``kind`` is ``model`` or ``tokenizer``, ``source`` where it came from."""

    kind: str
    item: object
    source: str


@dataclass(frozen=True, kw_only=True)
class Restored(Moment):
    """Stored tensors were put into the model that begins to train, or a module of it, as the loader says.

    ``kind`` is ``model`` (made by a loader from ``files``), ``adapter`` or ``state``; ``tensors`` of them were stored,
    and ``taken`` found a place. ``places`` are live parameters by the names that the loader knows them by, ``prefix``
    what it may add to a name or take off; ``missing`` places got no value, ``resized`` ones are of another shape.
    What a later one put in the same places replaces what was there.
    """

    kind: str
    source: str
    tensors: int
    taken: int
    places: Mapping[str, object]
    missing: tuple[str, ...] = ()
    resized: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class Configured(Moment):
    """What each layer of the model that trains is configured with, by module path."""

    subject: str
    layers: Mapping[str, str]
    source: str


@dataclass(frozen=True, kw_only=True)
class TrainBegin(Moment):
    """A training loop is about to take its first step, or, where only the optimizer shows it, is taking it.

    ``late`` says that the first forward pass is over already. ``planned_steps`` is 0 where nobody knows. What the
    framework does not hand over (``scheduler``, ``loader``) is looked for; see :class:`Equipped`.
    """

    driver: str
    model: object
    optimizer: object | None = None
    tokenizer: object | None = None
    arguments: object | None = None
    scheduler: object | None = None
    loader: object | None = None
    planned_steps: int = 0
    late: bool = False


@dataclass(frozen=True, kw_only=True)
class Equipped(Moment):
    """The training that begins uses this ``scheduler`` or ``loader``; ``item`` is None where it has none."""

    kind: str
    item: object | None
    source: str


@dataclass(frozen=True, kw_only=True)
class Prepared(Moment):
    """The dataset that the loop reads, and what the trainer made of the one that the script handed over.

    ``columns`` says of each of the script's columns whether it is ``kept`` in the rows that are collated, was ``read``
    by the preparation, or ``left out`` unread. ``filters`` are ``(whose, why, rows before, rows after)``, the
    trainer's own. ``regrouped`` says that rows were put together of others, or cut into others, by whomever.
    """

    columns: Mapping[str, str]
    filters: tuple[tuple[str, str, int, int], ...]
    regrouped: bool
    source: str


@dataclass(frozen=True, kw_only=True)
class StepBegin(Moment):
    """An optimizer step, counted from 1, begins: its forward passes come next."""

    step: int


@dataclass(frozen=True, kw_only=True)
class Batch(Moment):
    """A batch enters the outermost model in the sampled step; tensors are those that the model will read."""

    step: int
    inputs: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class MicroBatch(Moment):
    """The loop has run a micro-batch forward and backward, as part of step ``step``.

    Only a loop that counts them itself can say so: a model may be called twice for one of them.
    """

    step: int


@dataclass(frozen=True)
class Operation:
    """One executed operation: its name, the sizes and the element type of its first input."""

    name: str
    sizes: tuple[int, ...]
    type: str


@dataclass(frozen=True, kw_only=True)
class Operations(Moment):
    """What the first micro-batch of the sampled step executed, forward and backward, in no promised order."""

    step: int
    operations: tuple[Operation, ...]


@dataclass(frozen=True, kw_only=True)
class Gradients(Moment):
    """Gradients of a step are complete and the optimizer has not used them yet."""

    step: int
    model: object
    optimizer: object


@dataclass(frozen=True, kw_only=True)
class StepEnd(Moment):
    """The optimizer has taken step ``step``."""

    step: int


@dataclass(frozen=True, kw_only=True)
class Look(Moment):
    """The optimizer has taken step ``step``, long after the sampled one: time for a look at what may have changed.

    It comes at steps that double, after a validation, and when the training ends (``last``). The model or the optimizer
    is None where the run has let go of it. Only an instrument that is ``lasting`` hears it.
    """

    step: int
    model: object | None
    optimizer: object | None
    last: bool = False


@dataclass(frozen=True, kw_only=True)
class Saved(Moment):
    """The loop has written a checkpoint after step ``step``."""

    step: int


@dataclass(frozen=True, kw_only=True)
class Written(Moment):
    """A model, or a part of one, was written to ``path`` by the process that says so, since ``began``, Unix seconds.

    ``form`` says by what: "checkpoint" (of a loop), "pretrained", "adapter", "state" or "file". Nobody counts it: one
    checkpoint may be written by several savers, and a script saves when its loop is over.
    """

    path: str
    form: str
    began: float = 0.0


@dataclass(frozen=True, kw_only=True)
class TrainEnd(Moment):
    """The loop returned, or raised ``error``; ``exhausted`` says that it ended because the data had."""

    step: int
    error: str = ""
    exhausted: bool = False


@dataclass(frozen=True, kw_only=True)
class Adapted(Moment):
    """The model that trains carries adapters: what was asked, and each matched module with its live parameters.

    ``settings`` says of each module how its adapter is set, ``configured`` how its config asks for it, in one wording.
    """

    kind: str
    asked: tuple[str, ...]
    modules: Mapping[str, Iterable[object]]
    source: str
    settings: Mapping[str, str] = field(default_factory=dict)
    configured: Mapping[str, str] = field(default_factory=dict)


def _alone(row: int) -> range:
    return range(row, row + 1)


@dataclass(frozen=True, kw_only=True)
class CacheHit(Moment):
    """A cache served ``rows`` rows of ``entry`` without calling ``function``.

    ``stored(indices)`` returns what it served, ``recompute(indices)`` what the function makes of the same inputs now,
    both as plain Python and row for row; indices rise, and hold each ``batch(row)`` as a whole. Recomputing calls the
    run's own code: never in the run's own process. Where rows can only be reached from the first one on, ``in_order``
    says so, and ``scan`` may walk through them faster: it yields how many more rows were held against the function, and
    which of those differ. ``salient`` names rows that stand out and should be seen first. ``written`` is when the entry
    was, Unix seconds; ``sources`` are the files it was made of, as far as the cache itself knows them. ``built`` is
    what an entry says of itself: what it was built with, and what its build counted.
    """

    cache: str
    entry: str
    function: object
    rows: int
    stored: Callable[[Sequence[int]], Sequence[object]]
    recompute: Callable[[Sequence[int]], Sequence[object]]
    batch: Callable[[int], range] = _alone
    in_order: bool = False
    scan: Callable[[], Iterator[tuple[int, Sequence[int]]]] | None = None
    salient: Callable[[], Sequence[int]] | None = None
    written: float = 0.0
    sources: tuple[str, ...] = ()
    built: Mapping[str, object] = field(default_factory=dict)
