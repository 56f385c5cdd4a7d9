"""A file and the reader that certainly opens it: a script's parser, the ``trl`` program, Accelerate."""

from __future__ import annotations

from collections.abc import Container

from affidavit.lint.configs import kind, tools
from affidavit.lint.configs.asked import Asked, ask, dropped, without
from affidavit.lint.configs.document import Document, given_of, last
from affidavit.lint.configs.named import ACCELERATE_LAUNCH, Named, keeps_text
from affidavit.lint.configs.numbers import nested_text_numbers, text_numbers
from affidavit.lint.configs.taken import Lookup, Taken, keeps_rest, lenient_of_files, look_up, reads_files, taken
from affidavit.lint.configs.tooled import ask_tool
from affidavit.lint.request import Request

ENVIRONMENT = "env"
"""The block that TrlParser puts into ``os.environ``."""


def ask_certain(asked: Asked, document: Document, named: Named, lookup: Lookup, elsewhere: Container[str]) -> bool:
    """Add what a file asks of its reader; False where that is none whose names are known."""
    if named.tool == ACCELERATE_LAUNCH:
        ask_tool(asked, document, kind.ACCELERATE, lookup, ())
        return True
    if named.tool:
        _ask_trl(asked, document, named, lookup)
        return True
    readers = [parser for parser in named.parsers if reads_files(parser)]
    if not readers:
        return False
    is_trl = any(parser.kind == "TrlParser" for parser in readers)
    if is_trl:
        document = without(document, {ENVIRONMENT})
    takes = taken(readers, lookup, options=is_trl)
    lenient = [lenient_of_files(parser) for parser in readers]
    where = f"{readers[0].path.name}:{readers[0].line}"
    via = f"read by {where}" if named.via == where else f"read by {where}, named in {named.via}"
    if all(lenient):
        # TRL's own scripts are lenient because a file of theirs holds options of accelerate launch as well.
        mine = without(document, {name for name in document.names if is_trl and tools.is_accelerates(name)})
        asked.fields.extend(dropped(mine, takes, lenient[0], where, elsewhere))
    guard = next(filter(None, map(keeps_rest, readers)), "")
    guard = f"{where} drops what it does not take" if any(lenient) else guard
    ask(asked, document, last(document.entries), takes, parser=readers[0], via=via, guard=guard)
    _ask_mixture(asked, document, takes, via)
    if all(map(keeps_text, readers)):
        asked.fields.extend(text_numbers(document, takes.numeric, where))
    else:
        asked.fields.extend(nested_text_numbers(document))
    return True


def _ask_trl(asked: Asked, document: Document, named: Named, lookup: Lookup) -> None:
    """Add what a file asks of a ``trl`` command; what that does not take goes to ``accelerate launch``.

    Source: trl 1.16 cli.commands.training: the rest of a config becomes options of the launcher.
    """
    classes = tools.TRL_COMMANDS.get(named.tool.removeprefix("trl "), ())
    parameters, is_closed = look_up(classes, lookup)
    if not classes or not is_closed:
        return
    takes = Taken(installed=classes, parameters=parameters, is_closed=True)
    document = without(document, {ENVIRONMENT})
    entries = [one for one in last(document.entries) if one.key in parameters or not tools.is_accelerates(one.key)]
    via = f"read by {named.tool}, named in {named.via}"
    ask(asked, document, entries, takes, via=via)
    _ask_mixture(asked, document, takes, via)
    asked.fields.extend(nested_text_numbers(document))


def _ask_mixture(asked: Asked, document: Document, takes: Taken, via: str) -> None:
    """Add each row of ``datasets:``, which a class of TRL's takes by name."""
    entry = document.get("datasets")
    if entry is None or not any(callee.endswith(".DatasetMixtureConfig") for callee in takes.installed):
        return
    for row in entry.rows:
        given = tuple(given_of(inner, document.path) for inner in last(row))
        if given:
            asked.requests.append(
                Request(
                    callee=tools.MIXTURE_ROW,
                    given=given,
                    path=document.path,
                    line=given[0].line,
                    origin="config",
                    via=f"datasets, {via}",
                    guard=takes.why_open,
                )
            )
