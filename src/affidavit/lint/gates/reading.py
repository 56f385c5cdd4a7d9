"""The gates and alarms of a project, read as text: how many there are, and which of them cannot say no."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from affidavit.lint.gates import places
from affidavit.lint.gates.known import is_training
from affidavit.lint.gates.python import python
from affidavit.lint.gates.rule import ALARM, GATE, Hit, Inert
from affidavit.lint.gates.rules import BY_ID, RULES
from affidavit.lint.gates.source import Source
from affidavit.lint.request import Unread

_LARGEST_BYTES: Final = 1 << 20
_MOST_CALLS: Final = 4
_PROBES: Final = re.compile(r"\b(?:pgrep|pkill)\b|\bkill\s+-0\b|\bnvidia-smi\b|\bps\b[^|\n]*\|\s*e?grep", re.I)
_WORD: Final = re.compile(r"#.*\baffidavit:\s*(?P<rule>[a-z][a-z0-9-]+)(?P<reason>[^\n]*)")


@dataclass(kw_only=True)
class GateReading:
    """What was read.

    Args:
        gates: commands that judge. alarms: probes, health checks and trainings whose end somebody may want to know.
        inert: the places where a rule applies, less those that a comment with a reason excuses.
    """

    gates: int = 0
    alarms: int = 0
    inert: list[Inert] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def read_gates(files: Iterable[Path], argv: Sequence[str] = (), cwd: Path | None = None) -> GateReading:
    """Return the gates and alarms of these files, and of the command that is about to run.

    Source: anchors-mechanisms C5; playbook §4.5, §4.6. Blind to: gates under a name that does not say so; what a
    sourced file turns on; how a script is started by what is no file of the project.
    """
    reading = GateReading()
    sources: list[Source] = []
    texts: dict[Path, str] = {}
    for path in dict.fromkeys(files):
        try:
            if path.stat().st_size > _LARGEST_BYTES:
                continue
            texts[path] = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
            sources += _sources(path, texts[path])
        except OSError as error:
            reading.unread.append(Unread(path=path, line=1, why=f"cannot be opened: {error.strerror}"))
        except RecursionError:
            reading.unread.append(Unread(path=path, line=1, why="nested too deeply to be read"))
        except SyntaxError as error:
            reading.unread.append(Unread(path=path, line=error.lineno or 1, why=f"no Python: {error.msg}"))
        except ValueError as error:
            reading.unread.append(Unread(path=path, line=1, why=f"cannot be read: {str(error).splitlines()[0]}"))
    sources += places.command_line((cwd or Path.cwd()) / "command line", argv)
    for source in tuple(sources):
        sources += places.inner(source)
    _tell_calls(sources, texts)
    for source in sources:
        _judge(reading, source, texts.get(source.path, "").split("\n"))
    return reading


def _sources(path: Path, text: str) -> Iterator[Source]:
    name = path.name.lower()
    if path.suffix == ".py":
        yield from python(path, text)
    elif name.endswith((".yml", ".yaml")):
        yield from _workflow(path, text)
    elif name.startswith(("makefile", "gnumakefile")) or name.endswith(".mk"):
        yield from places.makefile(path, text)
    elif "dockerfile" in name or "containerfile" in name:
        yield from places.dockerfile(path, text)
    elif "crontab" in name or name.endswith(".cron"):
        yield from places.crontab(path, text)
    elif text:
        yield Source(path=path, text=text)


def _workflow(path: Path, text: str) -> Iterator[Source]:
    import yaml

    try:
        yield from places.workflow(path, text)
    except yaml.YAMLError:
        return


def _tell_calls(sources: Sequence[Source], texts: dict[Path, str]) -> None:
    """Tell each script with which words it is called, by other files and by its own comments."""
    scripts = {source.path.name: source for source in sources if source.where == "script"}
    waiting = {name: source for name, source in scripts.items() if _PROBES.search(source.text)}
    if not waiting:
        return
    pattern = re.compile(
        rf"(?:bash|sh|\./)\s*\S*?(?P<name>{'|'.join(map(re.escape, waiting))})[ \t]+(?P<rest>[^\n`;&|>]+)"
    )
    for text in texts.values():
        for found in pattern.finditer(text):
            called = waiting[found["name"]].called_with
            if len(called) < _MOST_CALLS:
                called.append(f"bash {found['name']} {found['rest'].strip()}")


def _judge(reading: GateReading, source: Source, lines: list[str]) -> None:
    try:
        gates = len(source.gates)
    except RecursionError:
        reading.unread.append(Unread(path=source.path, line=source.first + 1, why="nested too deeply to be read"))
        return
    reading.gates += gates
    alarms = len(_PROBES.findall(source.text)) if source.where != "inner" else 0
    alarms += sum(1 for step in source.steps if step.kind == "command" and is_training(step.words))
    reading.alarms += alarms + (source.where == "health")
    seen: set[tuple[str, int]] = set()
    for rule in RULES:
        for hit in rule.find(source):
            if (rule.id, hit.line) in seen:
                continue
            seen.add((rule.id, hit.line))
            excused = _excused(lines, hit, rule.id)
            if excused is None:
                reading.inert.append(Inert(path=source.path, rule=rule, hit=hit))
            elif excused:
                reading.inert.append(Inert(path=source.path, rule=rule, hit=_unexplained(hit, rule.wrong)))
    sections = {BY_ID[rule].section for rule, _ in seen}
    reading.gates += not gates and GATE in sections
    reading.alarms += not alarms and ALARM in sections


def _excused(lines: list[str], hit: Hit, rule: str) -> bool | None:
    """Return None where no comment excuses a hit, False where one does, True where it gives no reason."""
    for number in (hit.line - 1, hit.line - 2):
        found = _WORD.search(lines[number]) if 0 <= number < len(lines) else None
        if found is not None and found["rule"] == rule:
            return len(found["reason"].strip(" :-—.")) < 3
    return None


def _unexplained(hit: Hit, wrong: str) -> Hit:
    said = f"{hit.said or wrong} The comment that excuses it gives no reason."
    return Hit(line=hit.line, text=hit.text, said=said, is_sure=hit.is_sure)
