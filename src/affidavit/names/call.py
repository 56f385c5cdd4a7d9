"""``affidavit.call(TrainingArguments, settings)``: keyword arguments are data, held against what is installed.

Source: playbook §4.2; anchors-mechanisms C2 (three answers; consumption after the call).
Blind to: whether a name that is read is heeded; names that go to another process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.names import history
from affidavit.names.answer import Answer, judge, nearest
from affidavit.names.consumed import astray, is_own, is_read_by_script, literals, unread
from affidavit.names.handed import hand
from affidavit.names.live import named, read, resolved, source
from affidavit.names.nested import is_said, readers, target
from affidavit.names.signature import Rest, Signature

Made = TypeVar("Made")
_ROOM = 12


class NamesError(AffidavitError, TypeError):
    """A name was given to a callable that nobody behind it takes, or that nobody read; all of them are said."""


def call(callee: Callable[..., Made], kwargs: Mapping[str, Any], /, *args: Any) -> Made:
    """Return what ``callee(*args, **kwargs)`` returns, where every name in ``kwargs`` is one that somebody reads.

    A misspelt, removed or misplaced name otherwise surfaces one by one, after an hour, or never: what a callable does
    not know it may keep beside the real setting, which has its default. Mappings inside of ``kwargs`` are held against
    the callable that will take them.

    Raises:
        NamesError: before the call for names that are refused, after it for names that were put aside unread; a
            TypeError as well, so that who expects that of a wrong name still gets it.

    Blind to: a name that a loaded library knows for another purpose.
    """
    dotted, signature = named(callee), read(callee)
    refused = dict(_refused(dotted, signature, kwargs))
    if refused:
        _tell(callee, kwargs, refused)
        raise _error(dotted, signature, refused, "The call was not made.")
    made = callee(*args, **kwargs)
    lost = _lost(made, signature, kwargs) if signature is not None else {}
    _tell(callee, kwargs, lost)
    if lost:
        raise _error(dotted, signature, lost, "The call was made, and what these should have set has its default.")
    return made


def _refused(dotted: str, signature: Signature | None, kwargs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every name that is surely not taken, by its path through the mappings, with what is known of it."""
    beside = {name: _text(value) for name, value in kwargs.items()}
    for name, value in kwargs.items():
        if signature is not None:
            judged = judge(signature, name)
            if judged.answer is Answer.UNKNOWN:
                yield name, _meant(signature.callee, name, judged.near)
        if isinstance(value, Mapping) and value and all(isinstance(key, str) for key in value):
            for base in _bases(dotted, signature):
                found = tuple(_inside(base, name, value, beside))
                if found:
                    yield from found
                    break


def _inside(
    dotted: str, parameter: str, value: Mapping[str, Any], beside: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    sources = readers(dotted, parameter)
    if sources:
        said = frozenset[str]().union(*map(literals, map(source, sources)))
        gone = [key for key in value if said and not is_said(key, said)]
        own = is_read_by_script(gone)
        for key in gone:
            if key not in own:
                yield f"{parameter}.{key}", _meant("", key, nearest(key, filter(str.isidentifier, said)))
        return
    goal = resolved(target(dotted, parameter, {**beside, **{key: _text(one) for key, one in value.items()}}) or "")
    signature = None if goal is None else read(goal)
    if signature is None:
        return
    if signature.rest is Rest.CLOSED:
        for key, said_of in _refused(signature.callee, signature, value):
            yield f"{parameter}.{key}", said_of
        return
    # Where it goes any name may be right; one that nobody says, and that is almost another, is not.
    for key in unread(key for key in value if key not in signature.parameters):
        near = nearest(key, (*signature.parameters, *_LOADER))
        if near:
            yield f"{parameter}.{key}", _meant(signature.callee, key, near)


def _bases(dotted: str, signature: Signature | None) -> tuple[str, ...]:
    """Return the names under which a callable may have mappings of its own: a subclass has those of its bases."""
    held = resolved(dotted)
    kinds = held.__mro__ if isinstance(held, type) else ()
    names = [f"{kind.__module__}.{kind.__qualname__}" for kind in kinds]
    return tuple(dict.fromkeys([dotted, *([signature.callee] if signature else []), *names]))


_LOADER = (
    *("attn_implementation", "dtype", "torch_dtype", "device_map", "revision", "trust_remote_code", "use_cache"),
    *("cache_dir", "quantization_config", "local_files_only", "token", "subfolder", "low_cpu_mem_usage", "variant"),
    *("use_safetensors", "max_memory"),
)
"""Names that loaders take behind ``**kwargs``, for the nearest name only."""


def _lost(made: object, signature: Signature, kwargs: Mapping[str, Any]) -> dict[str, str]:
    """Return the names whose fate was open and that nobody reads now, with where they lie."""
    answers = [judge(signature, name) for name in kwargs]
    fates = {one.name: kwargs[one.name] for one in answers if one.answer is Answer.OPEN}
    if not fates:
        return {}
    aside = astray(made, fates)
    gone = {name for name in fates if name not in aside and not hasattr(made, name)}
    beside = _LOADER if signature.callee.endswith(".from_pretrained") else ()
    known = (
        *signature.parameters,
        *beside,
        *(name for name in dir(made) if not name.startswith("_") and name not in aside),
    )
    return {
        name: _meant(signature.callee, name, nearest(name, known), aside.get(name, "dropped"))
        for name in sorted(unread(gone | set(aside)))
    }


def _meant(callee: str, name: str, near: str, place: str = "") -> str:
    told = history.said_of(callee, name) if callee else ""
    said = told or (f"the nearest name is {near}" if near else "")
    return "; ".join(filter(None, (place, said)))


def _error(dotted: str, signature: Signature | None, problems: Mapping[str, str], happened: str) -> NamesError:
    said = [f"{name} ({why})" if why else name for name, why in problems.items()]
    more = f" and {len(said) - _ROOM} more" if len(said) > _ROOM else ""
    text = refusal(
        subject=dotted,
        expected=f"names that somebody reads ({signature.package if signature and signature.package else 'installed'})",
        saw="; ".join(said[:_ROOM]) + more,
        means=f"Nobody reads {'it' if len(said) == 1 else f'these {len(said)}'}. {happened}",
        action="Write the name that is installed, or leave it out.",
        unaffected="the other names",
    )
    return NamesError(text)


def _tell(callee: Any, kwargs: Mapping[str, Any], lost: Mapping[str, str]) -> None:
    """Have the session that watches this process, if one does, know what was asked for here."""
    boot: Any = sys.modules.get("affidavit.boot")
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    if boot is not None and boot.is_attached() and is_own(frame.f_code.co_filename) and kwargs:
        name = getattr(callee, "__qualname__", type(callee).__name__)
        names = (*kwargs, *(one for one in lost if one not in kwargs))
        hand(boot.session(), frame, name, names, "call", astray=lost, sure=dict.fromkeys(lost, ""))


def _text(value: object) -> str:
    value = getattr(value, "value", value)
    return str(value) if isinstance(value, (str, int, float, bool)) else ""
