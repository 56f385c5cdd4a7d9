"""Files that a tool reads: Accelerate, DeepSpeed, LLaMA-Factory and axolotl, each only where it is installed."""

from __future__ import annotations

from collections.abc import Iterable

from affidavit.lint.configs import kind, tools
from affidavit.lint.configs.asked import Asked, split
from affidavit.lint.configs.document import Document, Entry, given_of, last
from affidavit.lint.configs.taken import Lookup, look_up
from affidavit.lint.request import Request
from affidavit.names import history
from affidavit.names.signature import Signature


def ask_tool(asked: Asked, document: Document, what: str, lookup: Lookup) -> None:
    """Add what a file asks of the tool that it is written for; nothing where that is not installed.

    Blind to: the outermost keys of a DeepSpeed file, which its reader picks one by one and never counts.
    """
    if what == kind.ACCELERATE:
        _ask_cluster(asked, document, lookup)
    elif what == kind.DEEPSPEED:
        _ask_deepspeed(asked, document, lookup)
    elif what == kind.LLAMA_FACTORY:
        _ask_llama_factory(asked, document, lookup)
    elif what == kind.AXOLOTL:
        why = "axolotl drops and renames keys before its schema sees them"
        _ask(asked, document, last(document.entries), (tools.AXOLOTL_CLASS,), lookup, "axolotl", guard=why)


def _ask_llama_factory(asked: Asked, document: Document, lookup: Lookup) -> None:
    """Add a file of LLaMA-Factory: which further classes read it is chosen by the environment and by its own keys."""
    parameters, _ = look_up(tools.LLAMA_FACTORY_CLASSES, lookup)
    certain, others = split(
        last(document.entries),
        lambda entry: entry.key in parameters or bool(history.said_of("transformers.TrainingArguments", entry.key)),
    )
    _ask(asked, document, certain, tools.LLAMA_FACTORY_CLASSES, lookup, "llamafactory-cli")
    why = "USE_MCA, USE_V1, USE_KT and use_ray choose further classes"
    _ask(asked, document, others, tools.LLAMA_FACTORY_CLASSES, lookup, "llamafactory-cli", guard=why)


def _ask_cluster(asked: Asked, document: Document, lookup: Lookup) -> None:
    where = document.get("compute_environment")
    is_local = where is None or where.raw in ("LOCAL_MACHINE", "")
    entries = (entry for entry in last(document.entries) if entry.key not in tools.CLUSTER_CONVERTED)
    _ask(asked, document, entries, (tools.CLUSTER if is_local else tools.SAGEMAKER,), lookup, "accelerate launch")


def _ask_deepspeed(asked: Asked, document: Document, lookup: Lookup) -> None:
    zero = document.get("zero_optimization")
    if zero is not None:
        # Its aliases begin with stage3_ and are no parameters of the class.
        entries = (entry for entry in last(zero.inside) if not entry.key.startswith("stage3_"))
        _ask(asked, document, entries, (tools.ZERO_CLASS,), lookup, "DeepSpeed, zero_optimization")
    scheduler = document.get("scheduler")
    inside = {entry.key: entry for entry in last(scheduler.inside)} if scheduler is not None else {}
    if "type" in inside and "params" in inside and inside["type"].raw in tools.SCHEDULES:
        callee = f"{tools.SCHEDULES_MODULE}.{inside['type'].raw}"
        _ask(asked, document, last(inside["params"].inside), (callee,), lookup, "DeepSpeed, scheduler.params")


def _ask(
    asked: Asked,
    document: Document,
    entries: Iterable[Entry],
    classes: tuple[str, ...],
    lookup: Lookup,
    via: str,
    guard: str = "",
) -> None:
    given = tuple(given_of(entry, document.path) for entry in entries)
    if not given or not any(isinstance(lookup.find(callee), Signature) for callee in classes):
        return
    _, is_closed = look_up(classes, lookup)
    guard = guard or ("" if is_closed else f"{via} may take more names than could be read")
    first = given[0]
    asked.requests.append(
        Request(
            callee=" + ".join(classes),
            given=given,
            path=first.path,
            line=first.line,
            origin="config",
            via=f"read by {via}",
            guard=guard,
        )
    )
