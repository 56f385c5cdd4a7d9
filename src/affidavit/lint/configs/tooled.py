"""Files that a tool reads: Accelerate, DeepSpeed, LLaMA-Factory and axolotl, each only where it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from affidavit.lint.configs import kind, tools
from affidavit.lint.configs.asked import Asked, ParserRequest, split
from affidavit.lint.configs.document import Document, Entry, given_of, last
from affidavit.lint.configs.schema import schema_of
from affidavit.lint.configs.taken import Lookup, look_up
from affidavit.lint.request import Field, Request
from affidavit.names import history
from affidavit.names.answer import nearest
from affidavit.names.signature import Signature


def ask_tool(asked: Asked, document: Document, what: str, lookup: Lookup, sites: Sequence[Path]) -> None:
    """Add what a file asks of the tool that it is written for; nothing where that is not installed.

    DeepSpeed's and axolotl's schemas are pydantic models, whose fields no signature says; they are read from ``sites``.

    Blind to: the outermost keys of a DeepSpeed file, which its reader picks one by one and never counts.
    """
    if what == kind.ACCELERATE:
        _ask_cluster(asked, document, lookup)
    elif what == kind.DEEPSPEED:
        _ask_deepspeed(asked, document, lookup, sites)
    elif what == kind.LLAMA_FACTORY:
        _ask_llama_factory(asked, document, lookup)
    elif what == kind.AXOLOTL:
        asked.fields.extend(_dropped_by_axolotl(document, sites))


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


def _dropped_by_axolotl(document: Document, sites: Sequence[Path]) -> Iterator[Field]:
    """Yield the keys that look like a field of axolotl's schema and are none: it ignores any other key.

    Blind to: keys that are like no field; files with ``plugins``, which bring fields of their own.
    """
    schema = schema_of(tools.AXOLOTL_CLASS, sites) if document.get("plugins") is None else None
    if schema is None or schema.forbids:
        return
    for entry in last(document.entries):
        near = "" if entry.key in schema.names else nearest(entry.key, schema.names)
        if near:
            said = f"dropped without a word by axolotl, whose schema has no such field; did you mean {near}?"
            yield Field(path=document.path, line=entry.line, name=entry.key, kind="dropped", said=said)


def _ask_deepspeed(asked: Asked, document: Document, lookup: Lookup, sites: Sequence[Path]) -> None:
    zero = document.get("zero_optimization")
    schema = schema_of(tools.ZERO_CLASS, sites) if zero is not None else None
    if zero is not None and schema is not None and schema.forbids:
        given = tuple(given_of(entry, document.path) for entry in last(zero.inside))
        asked.parser_requests.append(
            ParserRequest(
                callee=tools.ZERO_CLASS,
                given=given,
                known=schema.names,
                origin="config",
                via="read by DeepSpeed, zero_optimization",
            )
        )
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
