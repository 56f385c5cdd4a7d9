"""Mappings inside of TrainingArguments, and attributes set on them later → moments: names past every signature.

They are looked at when training begins: by then whoever reads them has been made, and what was ignored is ignored.

Source: transformers 4.57 and 5.24 trainer, trainer_optimizer; trl 0.24 and 1.16; hf-stack-spike §1.
Blind to: settings of FSDP and DeepSpeed; a mapping that the script made equal to the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from affidavit.adapters.transformers.arguments import is_set, made_at, set_later
from affidavit.adapters.transformers.models import are_passed
from affidavit.attach.moment import Handed, TrainBegin
from affidavit.attach.session import Session
from affidavit.names.answer import nearest
from affidavit.names.consumed import is_read_by_script, literals, set_at
from affidavit.names.live import read, resolved, source
from affidavit.names.nested import is_said, readers, target
from affidavit.names.signature import Rest

_CONSTANT = ("constant", "constant_with_warmup")
_LATE = "set after the arguments were made; no field of their class"
_IGNORED = "dropped whole: the model was handed over as an object"


def describe(moment: TrainBegin, session: Session) -> None:
    arguments = moment.arguments
    path, line = made_at(arguments)
    if not path:
        return
    for told in (*_late(arguments), *_nested(arguments, path, line), *_optimizer(moment, path, line)):
        session.fire(told)


def _late(arguments: Any) -> Iterator[Handed]:
    kind = type(arguments)
    for name in set_later(arguments):
        place = None if name.startswith("_") or hasattr(kind, name) else set_at(name)
        if place is not None:
            known = tuple(arguments.__dataclass_fields__)
            lost = {name: _LATE}
            yield Handed(callee=kind.__name__, names=(name,), astray=lost, known=known, path=place[0], line=place[1])


def _nested(arguments: Any, path: str, line: int) -> Iterator[Handed]:
    callee = _library_name(arguments)
    beside = {name: str(getattr(value, "value", value)) for name, value in vars(arguments).items()}
    for parameter, value in tuple(vars(arguments).items()):
        if not isinstance(value, Mapping) or not value or not is_set(arguments, parameter):
            continue
        keys = tuple(map(str, value))
        lost, known, sure = _judged(callee, parameter, keys, beside)
        if lost is not None:
            name = f"{type(arguments).__name__}({parameter}=…)"
            yield Handed(callee=name, names=keys, astray=lost, known=known, sure=sure, path=path, line=line)


def _judged(
    callee: str, parameter: str, keys: tuple[str, ...], beside: Mapping[str, str]
) -> tuple[dict[str, str] | None, tuple[str, ...], dict[str, str]]:
    """Return the keys that went astray, those that were known, and those that surely did; None where nobody can say."""
    if parameter == "model_init_kwargs":
        ignored = {} if are_passed(keys) else dict.fromkeys(keys, _IGNORED)
        return ignored, (), dict.fromkeys(ignored, "")
    if parameter == "lr_scheduler_kwargs" and beside.get("lr_scheduler_type") in _CONSTANT:
        ignored = dict.fromkeys(keys, f"dropped whole: the schedule {beside['lr_scheduler_type']} takes none")
        return ignored, (), dict.fromkeys(ignored, "")
    sources = readers(callee, parameter)
    if sources:
        said = frozenset[str]().union(*(literals(text) for text in map(source, sources) if text))
        unread = [key for key in keys if not is_said(key, said)]
        lost = dict.fromkeys(unread, f"a key that no code of {sources[0]} reads")
        known = tuple(word for word in said if word.isidentifier())
        own = is_read_by_script(unread)
        return lost, known, {key: nearest(key, known) for key in unread if key not in own}
    found = resolved(target(callee, parameter, beside) or "")
    signature = None if found is None else read(found)
    if signature is None:
        return None, (), {}
    unknown = [key for key in keys if key not in signature.parameters]
    place = "given to" if signature.rest is Rest.CLOSED else "**kwargs of"
    return dict.fromkeys(unknown, f"{place} {signature.callee}"), tuple(signature.parameters), {}


def _optimizer(moment: TrainBegin, path: str, line: int) -> Iterator[Handed]:
    """Look ``optim_args`` up where they must have gone: an optimizer of torch keeps what it was made with."""
    arguments: Any = moment.arguments
    asked = getattr(arguments, "optim_args", None)
    optimizer: Any = moment.optimizer
    if not isinstance(asked, str) or not asked or optimizer is None:
        return
    if not type(optimizer).__module__.startswith("torch.optim"):
        return
    given = dict(one.partition("=")[::2] for one in asked.replace(" ", "").split(",") if one)
    held = optimizer.defaults
    lost = {
        name: f"dropped: {type(optimizer).__name__} was made without it"
        for name, value in given.items()
        if name not in held or not _is_same(value, held[name])
    }
    callee = f"{type(arguments).__name__}(optim_args=…)"
    sure = dict.fromkeys(lost, "")
    yield Handed(callee=callee, names=tuple(given), astray=lost, known=tuple(held), sure=sure, path=path, line=line)


def _is_same(text: str, value: object) -> bool:
    try:
        return float(text) == float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return text.lower() == str(value).lower()


def _library_name(item: object) -> str:
    """Return the dotted name of the first class of an object that a library brings."""
    for kind in type(item).__mro__:
        if kind.__module__.partition(".")[0] in ("trl", "transformers"):
            return f"{kind.__module__}.{kind.__name__}"
    return ""
