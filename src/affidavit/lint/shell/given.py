"""The options of a command, held against what the parser of its script takes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from affidavit.lint.configs import tools
from affidavit.lint.configs.asked import Asked, put
from affidavit.lint.configs.taken import Lookup, Taken, keeps_rest, lenient_of_flags, look_up, reads_flags, taken
from affidavit.lint.request import Field, Given
from affidavit.lint.scripts.reading import Parser
from affidavit.lint.shell.launch import Launch, flags
from affidavit.lint.shell.script import meddles
from affidavit.names.answer import nearest

_ALWAYS = frozenset({"help", "config", "local_rank"})
"""Options that every parser has, that TrlParser takes out itself, or that a launcher adds."""


def ask_script(
    asked: Asked,
    launch: Launch,
    path: Path,
    script: Path,
    parsers: Sequence[Parser],
    lookup: Lookup | None,
    elsewhere: Container[str],
) -> None:
    """Add the options that a command gives to a script of the project.

    A script with several parsers takes what any of them takes; one of them that drops what it does not know makes
    the others no proof.
    """
    readers = [parser for parser in parsers if reads_flags(parser)]
    if not readers:
        return
    takes = taken(readers, lookup, options=True)
    given = tuple(_given(name, value, path, word.line, takes) for name, word, value in flags(launch.arguments))
    given = tuple(one for one in given if one.name not in _ALWAYS)
    if not given:
        return
    asked.fields_examined += len(given)
    lenient = [lenient_of_flags(parser) for parser in readers]
    guard = meddles(script) or next(filter(None, map(keeps_rest, readers)), "")
    first = f"{script.name}:{readers[0].line}"
    if all(lenient) and not guard:
        asked.fields.extend(_dropped(given, takes, lenient[0], first, elsewhere))
    if any(lenient):
        guard = guard or f"{first} drops what it does not take ({next(filter(None, lenient))})"
    put(asked, given, takes, parser=readers[0], origin="launcher", via=f"an option of {first}", guard=guard)


def ask_program(asked: Asked, launch: Launch, path: Path, lookup: Lookup | None) -> None:
    """Add the options of a ``trl`` command; what its classes do not take goes to ``accelerate launch``."""
    classes = tools.TRL_COMMANDS.get(launch.program.removeprefix("trl "), ())
    parameters, is_closed = look_up(classes, lookup)
    if not classes or not is_closed:
        return
    takes = Taken(installed=classes, parameters=parameters)
    given = tuple(_given(name, value, path, word.line, takes) for name, word, value in flags(launch.arguments))
    given = tuple(
        one for one in given if one.name in takes.known or not (one.name in _ALWAYS or tools.is_accelerates(one.name))
    )
    if given:
        asked.fields_examined += len(given)
        put(asked, given, takes, parser=None, origin="launcher", via=f"an option of {launch.program}")


def _given(name: str, value: str, path: Path, line: int, takes: Taken) -> Given:
    """Return an option under the name that its parser calls it, its own where the parser knows none."""
    return Given(name=_canonical(name, takes), path=path, line=line, value=value[:80])


def _canonical(flag: str, takes: Taken) -> str:
    """Return what a flag sets: itself, a field with dashes, ``--no_x`` of a bool, or what it abbreviates."""
    if flag in takes.dests:
        return takes.dests[flag]
    bare = flag[2:].replace("-", "_")
    fields = takes.fields | takes.parameters.keys()
    if bare in fields:
        return bare
    if bare.startswith("no_") and bare[3:] in fields:
        return bare[3:]
    longer = sorted(name for name in fields if name.startswith(bare) or f"no_{name}".startswith(bare))
    if longer:
        return longer[0]
    abbreviated = sorted(option for option in takes.dests if option.startswith(flag))
    if abbreviated:
        return takes.dests[abbreviated[0]]
    # argparse tells --a_b from --a-b; both have one attribute, so the option is named as it is written.
    return flag if bare in takes.own else bare


def _dropped(
    given: Sequence[Given], takes: Taken, lenient: str, reader: str, elsewhere: Container[str]
) -> Iterator[Field]:
    """Yield the options that are dropped: misspelt ones of this parser, which no other one takes.

    ``parse_known_args`` is as often a first look as the only one, so an option that is like none of its own is left
    alone, and all are where it knows less than half of them.
    """
    unknown = [one for one in given if one.name not in takes.known]
    if takes.why_open or not takes.is_closed or len(unknown) * 2 > len(given):
        return
    for one in unknown:
        near = nearest(one.name, takes.known)
        if near and one.name not in elsewhere:
            said = f"dropped without a word by {reader} ({lenient}); did you mean {near}?"
            yield Field(path=one.path, line=one.line, name=one.name, kind="dropped", said=said)
