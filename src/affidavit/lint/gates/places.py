"""Where shell text stands that is no script: make, Docker, cron, workflows, strings of a shell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from affidavit.lint.gates.build import turned_on
from affidavit.lint.gates.known import peel
from affidavit.lint.gates.source import Ignored, Source, Started
from affidavit.lint.gates.step import Step

_RULE: Final = re.compile(r"^[^\t#\s][^=]*:(?!=)")
_PREFIX: Final = re.compile(r"^[@+\s-]*")
_CRON: Final = re.compile(r"^\s*(?:(?:[\d*/,A-Za-z-]+\s+){5}|@\w+\s+)(?P<command>\S.*)$")
_EXPRESSION: Final = re.compile(r"\$\{\{.*?\}\}", re.S)
_SHELLS: Final = {"bash": Started.BASH, "sh": Started.SH, "zsh": Started.BASH, "dash": Started.SH}
_SSH_VALUED: Final = frozenset(
    {"-p", "-i", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-e", "-m", "-S", "-W"}
)
_OPTION: Final = re.compile(r"[-+]|(?:errexit|pipefail|nounset|xtrace)$")
_DEEPEST: Final = 40


def makefile(path: Path, text: str) -> Iterator[Source]:
    """Yield the recipe lines of a Makefile. Blind to: what include, define and pattern variables bring in."""
    flags = " ".join(re.findall(r"^\.SHELLFLAGS\s*[:?]?=(.*)$", text, re.M))
    is_bash = bool(re.search(r"^SHELL\s*[:?]?=.*bash", text, re.M))
    ignores_all = bool(re.search(r"^\.IGNORE\s*:\s*$", text, re.M))
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        first, line = index, lines[index]
        while line.endswith("\\") and index + 1 < len(lines):
            index += 1
            line += "\n" + lines[index]
        index += 1
        if not line.startswith("\t"):
            continue
        prefix = _PREFIX.match(line)
        assert prefix is not None
        body = " " * prefix.end() + line[prefix.end() :]
        body = re.sub(r"\$[({](\w+)[)}]", r"${\1}", body).replace("$$", "$")
        body = re.sub(r"\$\((?:\w+)\s[^()]*\)", "$MADE", body) if "$(" in line and "$$(" not in line else body
        yield Source(
            path=path,
            text=body,
            first=first,
            where="make",
            started=Started.BASH if is_bash else Started.SH,
            errexit=bool(re.search(r"-\w*e", flags)),
            pipefail="pipefail" in flags,
            ignored=Ignored.MAKE if "-" in prefix.group() or ignores_all else Ignored.NOBODY,
        )


def dockerfile(path: Path, text: str) -> Iterator[Source]:
    """Yield what RUN and HEALTHCHECK give to a shell. Blind to: here-documents, ONBUILD."""
    lines, index, pipefail, started = text.split("\n"), 0, False, Started.SH
    while index < len(lines):
        first, line = index, lines[index]
        while line.rstrip().endswith("\\") and index + 1 < len(lines):
            index += 1
            line = line.rstrip() + "\n" + ("" if lines[index].lstrip().startswith("#") else lines[index])
            if line.endswith("\n"):
                line += "\\"
        index += 1
        found = re.match(r"\s*(RUN|HEALTHCHECK|SHELL)\s", line, re.I)
        if found is None:
            continue
        word, rest = found.group(1).upper(), line[found.end() :]
        if word == "SHELL":
            pipefail, started = "pipefail" in rest, Started.BASH if "bash" in rest else Started.SH
            continue
        where = "docker"
        if word == "HEALTHCHECK":
            command = re.search(r"\bCMD\b", rest)
            if command is None:
                continue
            rest, where = rest[command.end() :].strip(), "health"
        else:
            rest = re.sub(r"^(?:\s*--\w+=\S+)+", "", rest)
        if rest.lstrip().startswith("["):
            rest = _exec_form(rest)
        if rest and "<<" not in rest:
            yield Source(path=path, text=rest, first=first, where=where, started=started, pipefail=pipefail)


def _exec_form(text: str) -> str:
    """Return what the exec form hands to a shell, "" where there is no shell."""
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if isinstance(words, list) and len(words) > 2 and words[1] == "-c" and all(isinstance(word, str) for word in words):
        return str(words[2])
    return ""


def crontab(path: Path, text: str) -> Iterator[Source]:
    """Yield the commands of a crontab."""
    for number, line in enumerate(text.split("\n")):
        found = _CRON.match(line)
        if found is not None and not line.lstrip().startswith("#"):
            yield Source(path=path, text=found["command"], first=number, where="cron", started=Started.SH)


def workflow(path: Path, text: str) -> Iterator[Source]:
    """Yield the steps of a workflow of GitHub or GitLab, with the options of their shells.

    Source: docs.github.com, workflow syntax: without ``shell:`` bash gets -e alone, with ``shell: bash`` -eo pipefail.
    Raises:
        yaml.YAMLError: it is no YAML.
    Blind to: reusable workflows; anchors.
    """
    import yaml

    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    root = _mapping(node)
    is_gitlab = "gitlab" in path.name
    default = _shell_of(root)
    for job in _values(root.get("jobs")) if not is_gitlab else root.values():
        held = _mapping(job)
        if is_gitlab:
            yield from _gitlab(path, held)
            continue
        windows = "windows" in _scalar(held.get("runs-on"))
        yield from _steps(path, held, _shell_of(held) or default, is_windows=windows)
    yield from _steps(path, _mapping(root.get("runs")), default, is_windows=False)


def _steps(path: Path, held: dict[str, Any], shell: str, *, is_windows: bool) -> Iterator[Source]:
    is_ignored = _scalar(held.get("continue-on-error")) == "true"
    for step in _rows(held.get("steps")):
        one = _mapping(step)
        run, mine = one.get("run"), _scalar(one.get("shell")) or shell
        if run is None or run.id != "scalar" or (is_windows and not mine):
            continue
        if mine and not re.match(r"(?:/\S*/)?(?:ba)?sh\b", mine):
            continue
        ignored = is_ignored or _scalar(one.get("continue-on-error")) == "true"
        yield Source(
            path=path,
            text=_EXPRESSION.sub(lambda found: re.sub(r"[^\n]", "x", found.group()), run.value),
            first=run.start_mark.line + (1 if run.style in ("|", ">") else 0),
            where="workflow",
            errexit=not mine or mine in ("bash", "sh") or bool(re.search(r"\s-\w*e", mine)),
            pipefail=mine == "bash" or "pipefail" in mine,
            ignored=Ignored.WORKFLOW if ignored else Ignored.NOBODY,
        )


def _gitlab(path: Path, held: dict[str, Any]) -> Iterator[Source]:
    ignored = _scalar(held.get("allow_failure")) == "true"
    for row in _rows(held.get("script")):
        if row.id == "scalar":
            first = row.start_mark.line + (1 if row.style in ("|", ">") else 0)
            how = Ignored.WORKFLOW if ignored else Ignored.NOBODY
            yield Source(
                path=path, text=row.value, first=first, where="workflow", errexit=True, pipefail=True, ignored=how
            )


def _shell_of(held: dict[str, Any]) -> str:
    return _scalar(_mapping(_mapping(held.get("defaults")).get("run")).get("shell"))


def _mapping(node: Any) -> dict[str, Any]:
    if node is None or node.id != "mapping":
        return {}
    return {str(key.value): value for key, value in node.value if key.id == "scalar"}


def _values(node: Any) -> list[Any]:
    return list(_mapping(node).values())


def _rows(node: Any) -> list[Any]:
    return list(node.value) if node is not None and node.id == "sequence" else []


def _scalar(node: Any) -> str:
    return str(node.value) if node is not None and node.id == "scalar" else ""


def inner(source: Source, depth: int = 0) -> Iterator[Source]:
    """Yield the texts that a shell text hands to another shell."""
    for step in source.steps if depth < 3 else ():
        if step.kind == "command" and step.words:
            found = _handed(step)
            if found is not None and found[1].strip():
                started, text, options = found
                first, (errexit, pipefail) = source.line_of(step) - 1, turned_on(options)
                made = Source(path=source.path, text=text, first=first, where="inner", started=started)
                made.errexit, made.pipefail = errexit, pipefail
                yield made
                yield from inner(made, depth + 1)


def command_line(path: Path, argv: Sequence[str]) -> Iterator[Source]:
    """Yield the text that a command gives to a shell: ``bash -e -c TEXT``."""
    shell = argv[0].rpartition("/")[2] if argv else ""
    at = next((at for at in range(1, len(argv) - 1) if re.fullmatch(r"-\w*c", argv[at])), 0)
    if shell in _SHELLS and at and all(map(_OPTION.match, argv[1:at])):
        errexit, pipefail = turned_on(argv[1 : at + 1])
        started = _SHELLS[shell]
        yield Source(path=path, text=argv[at + 1], where="inner", started=started, errexit=errexit, pipefail=pipefail)


def _handed(step: Step) -> tuple[Started, str, tuple[str, ...]] | None:
    words = peel(step.words)
    raw = step.raw[len(step.raw) - len(words) :] if words else ()
    name = words[0].rpartition("/")[2] if words else ""
    if name == "ssh":
        index = 1
        while index < len(words) and words[index].startswith("-"):
            index += 2 if words[index] in _SSH_VALUED else 1
        rest = raw[index + 1 :]
        return (Started.BASH, " ".join(_expanded(word) for word in rest), ()) if rest else None
    for index, word in enumerate(words[:-2]):
        shell = word.rpartition("/")[2]
        if shell in _SHELLS and (index == 0 or name in ("docker", "podman", "kubectl", "su", "srun", "singularity")):
            at = next((at for at in range(index + 1, len(words) - 1) if re.fullmatch(r"-\w*c", words[at])), 0)
            return (_SHELLS[shell], _expanded(raw[at + 1]), words[index + 1 : at + 1]) if at else None
    return None


def _expanded(raw: str) -> str:
    """Return a word as the other shell gets it: what was expanded before is one unknown name, the same everywhere."""
    if raw[:1] == "'":
        return raw[1:-1]
    text = raw[1:-1] if raw[:1] == '"' else raw
    text = re.sub(r"(?<!\\)\$\{?(\w+)(?:[:#%/][^}]*)?\}?", r"GIVEN_\1", text)
    return re.sub(r'\\(["\\$`])', r"\1", text)
