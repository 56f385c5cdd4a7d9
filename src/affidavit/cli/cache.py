"""``affidavit cache``: whether a key covers what moves the output, why a hit hit, and how much of an entry is stale."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from affidavit.cache.preimage import KeyRefusedError, PartChange, Preimage, differ
from affidavit.cache.probe import probed, readable
from affidavit.cache.probe.probed import COVERED, FAULT, IRRELEVANT, OVER_KEYED, UNPROVEN, VERDICTS, Found, Probe
from affidavit.cli import page
from affidavit.cli.complaint import complain
from affidavit.cli.parameter import Function, example, json_option
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.probing import AskedError, ask

NOW = "now"
"""What stands for the code, the values and the files as they are here and now."""
_INDENT = len("DECLARED-IRRELEVANT  ")
_TONES = {FAULT: Tone.BAD, UNPROVEN: Tone.DOUBT, OVER_KEYED: Tone.FAINT, COVERED: Tone.GOOD, IRRELEVANT: Tone.FAINT}
_NOT_OF_A_FUNCTION = ("data", "encode", "mask")
"""Kinds of parts that whoever calls the function adds to its key."""


@click.group(
    short_help="Probe a cache's key, explain a hit, audit an entry.",
    epilog=example("affidavit cache probe encode:encode_row --rows chats.jsonl"),
)
def command() -> None:
    """Probe a cache's key, explain why a hit hit, audit an entry.

    A module of yours is imported by a child process only, and your function is called where it can write nothing.
    """


def function_option(function: Function) -> Function:
    return click.option("--function", default="", metavar="MODULE:FUNCTION", help="What makes a row.")(function)


def circumstances(function: Function) -> Function:
    """How the function is called: its configuration, its tokenizer, the files that it counts."""
    for made in (
        click.option("--config", default="", metavar="FILE", help="JSON, TOML or YAML; or MODULE:NAME of one."),
        click.option("--tokenizer", default="", metavar="FOLDER", help="A folder, or MODULE:NAME."),
        click.option("--artifact", "artifacts", multiple=True, metavar="PATH", help="A file that counts by content."),
        click.option("--batched", is_flag=True, help="The function takes columns of rows."),
        click.option("--masks", default="", metavar="MODULE:NAME", help="Policies that are put on its labels."),
        click.option("--irrelevant", multiple=True, metavar="NAME=REASON", help="Cannot move the output, and why."),
    ):
        function = made(function)
    return function


# --- probe --------------------------------------------------------------------------------------------------------


@command.command(
    short_help="Move every input, and see whether output and key move.",
    epilog=example("affidavit cache probe encode:encode_row --rows chats.jsonl --key encode:cache_key"),
)
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option("--rows", required=True, metavar="FILE", help="Rows that the function is called with, .jsonl and others.")
@click.option("--key", default="", metavar="MODULE:FUNCTION", help="What makes the key; ours where there is none.")
@click.option("--witness", multiple=True, metavar="NAME=JSON", help="A value to try, of the input of this name.")
@click.option("--seconds", default=120.0, show_default=True, help="End the probe after so long.")
@circumstances
@json_option
def probe(function: str, as_json: bool, **said: Any) -> int:
    """Move every input of a function, one at a time, and hold the movement of its output against that of its key.

    COVERED both move. FAULT the output moves and the key does not: a cache would serve old rows. OVER-KEYED the key
    moves and the output never does. UNPROVEN nothing moved the output: a row or a value is lacking on which it would.
    DECLARED-IRRELEVANT somebody said so, and nothing moved it.

    Returns 1 for a fault, 4 for what is not proven, 0 otherwise. The result is kept beside the cache entries, and runs
    that use the function are judged by it.
    """
    order = _order("probe", function, said)
    order |= {"rows": said["rows"], "key": said["key"], "witness": _witnesses(said["witness"])}
    try:
        found = Probe.from_json(ask(order, seconds=said["seconds"]))
    except AskedError as error:
        return _refused(error)
    assert found is not None, "the child is of this version"
    place = probed.keep(found)
    if as_json:
        page.say({**found.to_json(), "exit_code": _code(found)})
    else:
        page.show(_probe_lines(found, place))
    return _code(found)


def _code(found: Probe) -> int:
    if found.of(FAULT):
        return 1
    return 4 if found.of(UNPROVEN) or not found.found else 0


def _probe_lines(found: Probe, place: Path) -> Iterator[Line]:
    key = "our own key" if found.key == "ours" else f"key {found.key}"
    yield line(Span(found.function, Tone.STRONG), f"  {key}, {found.rows:,} rows")
    for verdict in VERDICTS:
        for one in found.of(verdict):
            yield line(Span(str(one), Tone.STRONG), _rest(one), head=Span(verdict, _TONES[verdict]), indent=_INDENT)
    if not found.found:
        yield line("no input was found: the function reads nothing that could be moved", head=UNPROVEN, indent=_INDENT)
    counted = ", ".join(f"{len(found.of(verdict))} {verdict}" for verdict in VERDICTS if found.of(verdict))
    yield line(f"{counted or 'nothing proven'} in {found.seconds:.1f} s", Span(f"  {place.name}", Tone.FAINT))


def _rest(one: Found) -> str:
    moved = f"row {one.row:,}{f' in {one.fields}' if one.fields else ''}"
    if one.verdict == FAULT:
        declared = f" It was declared irrelevant: {one.why}." if one.why else ""
        return f": {one.change}, the output moves ({moved}) and the key does not.{declared}"
    if one.verdict == COVERED and one.change:
        return f": {one.change}, both move ({moved})"
    if one.verdict == COVERED:
        return ": other values are refused, and the key moves"
    if one.verdict == IRRELEVANT:
        return f": {one.why} ({one.tried} values tried)"
    return f": {one.why}"


# --- explain ------------------------------------------------------------------------------------------------------


@command.command(
    short_help="Say why a hit hit, and why a miss missed.",
    epilog=example("affidavit cache explain 3f2a now --function encode:encode_row --rows chats.jsonl"),
)
@click.argument("one", metavar="ENTRY")
@click.argument("other", metavar="ENTRY|now")
@function_option
@click.option("--rows", default="", metavar="FILE", help="Rows to see what the function reads; for now.")
@click.option("--store", default="", metavar="FOLDER", help="Where entries lie; the project's own by default.")
@circumstances
@json_option
def explain(one: str, other: str, as_json: bool, **said: Any) -> int:
    """Say part by part in what two entries differ, or an entry and the code, values and files that are here now.

    An entry is named by its folder or by the beginning of its key. Equal keys are a hit, all others a miss.
    """
    if NOW in (one, other) and not said["function"]:
        raise click.UsageError("now needs --function: the key of what?")
    try:
        sides = [_side(name, said) for name in (one, other)]
    except AskedError as error:
        return _refused(error)
    kinds = {part.kind for side in sides for part in side.parts}
    left_out = [kind for kind in _NOT_OF_A_FUNCTION if NOW in (one, other) and kind in kinds]
    before, after = (_without(side, left_out) for side in sides)
    changes = differ(before, after)
    if as_json:
        page.say(_explained([side.digest for side in sides], changes, left_out))
    else:
        named = tuple(f"{name} {side.digest[:19]}" for name, side in zip((one, other), sides))
        page.show(_explain_lines(named, (before, after), changes, left_out))
    return 0


def _side(name: str, said: Mapping[str, Any]) -> Preimage:
    if name != NOW:
        return readable.wanted_entry(name, said["store"]).preimage
    order = {**_order("explain", said["function"], said), "rows": said["rows"]}
    return Preimage.from_json(ask(order, seconds=60.0))


def _without(side: Preimage, kinds: Iterable[str]) -> Preimage:
    return Preimage(tuple(part for part in side.parts if part.kind not in kinds))


def _explained(keys: list[str], changes: tuple[PartChange, ...], left_out: list[str]) -> dict[str, Any]:
    rows = [{"kind": change.kind, "name": change.name, "says": change.says} for change in changes]
    return {"hit": not changes, "keys": keys, "changes": rows, "not_compared": left_out}


def _explain_lines(
    names: Iterable[str], sides: tuple[Preimage, Preimage], changes: tuple[PartChange, ...], left_out: list[str]
) -> Iterator[Line]:
    shared = len(sides[0].parts) - sum(change.before is not None for change in changes)
    if changes:
        yield line(f"a miss: {len(changes)} of the parts of the key moved", head=Span("✗", Tone.BAD), indent=2)
    else:
        yield line("a hit: every part of the key is the same", head=Span("✓", Tone.GOOD), indent=2)
    for change in changes:
        yield line(change.says, indent=2)
    kinds: dict[str, int] = {}
    for part in sides[0].parts:
        kinds[part.kind] = kinds.get(part.kind, 0) + 1
    if shared:
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        yield line(Span(f"the same in both: {shared} of {len(sides[0].parts)} ({counted})", Tone.FAINT), indent=2)
    if left_out:
        said = f"not compared, because a function alone has none: {', '.join(left_out)}"
        yield line(Span(said, Tone.FAINT), indent=2)
    yield line(Span("  ".join(names), Tone.FAINT), indent=2)


# --- audit --------------------------------------------------------------------------------------------------------


@command.command(
    short_help="Recompute a sample of an entry, and bound what is stale.",
    epilog=example("affidavit cache audit 3f2a --function encode:encode_row --raw chats.jsonl --rows 3000"),
)
@click.argument("entry", metavar="ENTRY")
@click.option("--function", required=True, metavar="MODULE:FUNCTION", help="What makes a row of it.")
@click.option("--raw", required=True, metavar="FILE", help="The rows that it was made of, in their order.")
@click.option("--rows", "count", default=3000, show_default=True, type=click.IntRange(min=1), help="Rows to recompute.")
@click.option("--seed", default=0, show_default=True, help="Of the choice of rows.")
@click.option("--store", default="", metavar="FOLDER", help="Where entries lie; the project's own by default.")
@click.option("--seconds", default=600.0, show_default=True, help="End the audit after so long.")
@circumstances
@json_option
def audit(entry: str, function: str, as_json: bool, **said: Any) -> int:
    """Recompute a random sample of an entry's rows, and say how many of all its rows can be stale.

    ENTRY is an entry of ours, by its folder or the beginning of its key, or a file of rows that somebody else cached.
    Columns that the function returns are compared. Returns 1 where a row differs, 4 where nothing could be told.
    """
    order = _order("audit", function, said)
    order |= {"entry": entry, "store": said["store"], "raw": said["raw"], "count": said["count"], "seed": said["seed"]}
    try:
        found = ask(order, seconds=said["seconds"])
    except AskedError as error:
        return _refused(error)
    outcome = found["outcome"]
    code = {"same": 0, "different": 1}.get(outcome, 4) if found["examined"] else 4
    if as_json:
        page.say({**found, "exit_code": code})
        return code
    mark, tone = {0: ("✓", Tone.GOOD), 1: ("✗", Tone.BAD)}.get(code, ("?", Tone.DOUBT))
    lines = [line(found["says"], head=Span(mark, tone), indent=2)]
    if code == 4:
        why = f": {found['why']}" if found["why"] else ""
        lines.append(line(Span(f"{outcome}{why}; no share of stale rows follows from that", Tone.DOUBT), indent=2))
    if found["different"]:
        first = ", ".join(f"{row:,}" for row in found["first"])
        lines.append(line(f"first: row {first}; in {', '.join(found['fields'])}", indent=2))
    page.show(lines)
    return code


# --- shared -------------------------------------------------------------------------------------------------------


def _order(work: str, function: str, said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "do": work,
        "function": function,
        "config": said["config"],
        "tokenizer": said["tokenizer"],
        "artifacts": list(said["artifacts"]),
        "batched": said["batched"],
        "masks": said["masks"],
        "irrelevant": dict(_pair(text, "--irrelevant") for text in said["irrelevant"]),
        "asked": datetime.datetime.now(datetime.UTC).isoformat(),
    }


def _witnesses(said: Iterable[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for text in said:
        name, value = _pair(text, "--witness")
        try:
            found.setdefault(name, []).append(json.loads(value))
        except ValueError:
            found.setdefault(name, []).append(value)
    return found


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.UsageError(f'{option} "{text}": expected NAME=VALUE.')
    return name.strip(), value.strip()


def _refused(error: AskedError) -> int:
    """Tell what could not be asked. A key that is refused, or a function that draws, is an answer and not a slip."""
    if error.kind in (KeyRefusedError.__name__, "ProbeRefusedError"):
        complain(str(error))
        return 4
    raise error
