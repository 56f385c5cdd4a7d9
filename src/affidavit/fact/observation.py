"""One journal line: what was seen of one term, how, and by which process."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from affidavit.fact.encoding import EXACT_INTEGER, from_json, to_json
from affidavit.fact.term import Method
from affidavit.fact.values import Value, ValueShapeError

MOST = 1 << 20
"""No run has more ranks or more trainings; a hostile file that says so would only fill its reader's memory."""


class Cause(enum.Enum):
    """Why a fact is unknown. A report folds by cause, so the set is closed and each member explains itself."""

    NOTHING_ATTACHED = "nothing attached: python -I/-E/-S, a cleaned environment, a container, or another host"
    NOTHING_TRAINED = "no training was seen in this process"
    NO_ADAPTER = "no adapter for this framework"
    ATTACHED_LATE = "attached after this had happened"
    NOT_REACHED = "the run ended before the step at which this is read"
    REPLACED = "the function this is read from was replaced by other code"
    COMPILED = "reading this would disturb the compiled model"
    PROFILER_BUSY = "the run's own profiler was active"
    NO_TOKENIZER = "no tokenizer was seen"
    NO_OPERATION = "nothing that this counts was executed"
    UNDECIDED = "all of it was seen, and it decides nothing"
    INSTRUMENT_FAILED = "the instrument raised"
    TIME_LIMIT = "the instrument passed its time limit and was switched off"
    TOO_LARGE = "the value is larger than a fact may be"
    JOURNAL_LOST = "the journal could not be written"
    RANK_MISSING = "this rank left no journal"
    RANK_CLAIMED_TWICE = "two processes of one attempt say that they are this rank, and disagree"
    ABSENT = "nothing in the record speaks of this"
    BELOW_LEAST = "known only by a weaker method than this term needs"
    FALLS = "a later annotation says that this falls"
    OTHER_SEAT = "judged at step 2 of the real run: this depends on the machine"
    GIT_REFUSED = "git refused to answer"
    NO_REPOSITORY = "the code is in no git repository"
    EVIDENCE_LOST = "the evidence file is gone or altered"


@dataclass(frozen=True)
class Known:
    """A value, the method by which it is known, and where it was read."""

    value: Value
    method: Method
    source: str


@dataclass(frozen=True)
class Unknown:
    """The absence of a value, with its cause and the details that help: silence is never a pass."""

    cause: Cause
    why: str


State = Known | Unknown


class Aspect(enum.Enum):
    """Whether a line tells what was asked for or what it became."""

    REQUESTED = "requested"
    RESOLVED = "resolved"


@dataclass(frozen=True)
class Observation:
    """What one process saw of one term at one time.

    ``rank`` is not here: a process learns its rank late, so the journal binds it once (:mod:`affidavit.fact.journal`).
    """

    term: str
    aspect: Aspect
    state: State
    episode: int = 0
    step: int = 0
    rank: int | None = None


def state_to_json(state: State) -> dict[str, object]:
    if isinstance(state, Known):
        return {"value": to_json(state.value), "method": state.method.name, "source": state.source}
    return {"cause": state.cause.name, "why": state.why}


def state_from_json(raw: Mapping[str, object]) -> State:
    """Return the state that :func:`state_to_json` wrote.

    Raises:
        ValueShapeError: not such a form.
    """
    try:
        if set(raw) == {"value", "method", "source"}:
            return Known(from_json(raw["value"]), Method[str(raw["method"])], _text(raw["source"]))
        if set(raw) == {"cause", "why"}:
            return Unknown(Cause[str(raw["cause"])], _text(raw["why"]))
    except KeyError as error:
        raise ValueShapeError(f"state: {error} is no method or cause that this version knows.") from error
    raise ValueShapeError(f"state: expected value, method, source or cause, why; saw {', '.join(map(str, raw))}.")


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueShapeError(f"state: expected text, saw {raw!r:.80}.")
    return raw


def observation_to_json(seen: Observation) -> dict[str, object]:
    return {
        "term": seen.term,
        "aspect": seen.aspect.value,
        "state": state_to_json(seen.state),
        "episode": seen.episode,
        "step": seen.step,
    }


def observation_from_json(raw: Mapping[str, object], *, rank: int | None = None) -> Observation:
    """Return the observation that :func:`observation_to_json` wrote.

    Raises:
        ValueShapeError: a field is missing, doubled or of another shape.
    """
    try:
        term, aspect, state, episode, step = (raw[key] for key in ("term", "aspect", "state", "episode", "step"))
    except KeyError as error:
        raise ValueShapeError(f"observation: {error} is missing.") from error
    if not isinstance(state, Mapping) or type(episode) is not int or type(step) is not int:
        raise ValueShapeError(f"observation of {term!r:.80}: state, episode or step has another shape.")
    if not 0 <= episode < MOST or not 0 <= step < EXACT_INTEGER:
        raise ValueShapeError(f"observation of {term!r:.80}: no run has episode {episode} or step {step}.")
    return Observation(str(term), Aspect(aspect), state_from_json(state), episode, step, rank)
