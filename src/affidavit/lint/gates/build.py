"""From the syntax tree of a shell text to its steps, each with the options that are on where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from affidavit.lint.gates.step import Step
from affidavit.lint.shell.syntax import root_of

_DEEPEST: Final = 100
_WORDS: Final = frozenset(
    {
        *("word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation"),
        *("simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"),
        *("brace_expression", "regex", "extglob_pattern", "test_operator"),
    }
)
_SEQUENCES: Final = {
    "program": "script",
    "compound_statement": "group",
    "do_group": "body",
    "subshell": "subshell",
    "command_substitution": "substitution",
    "process_substitution": "substitution",
    "else_clause": "body",
    "case_item": "body",
}
_HARMLESS_SOURCES: Final = re.compile(r"activate|rc\b|profile|conda|setvars|env|module|setup|path", re.I)
_SHEBANG: Final = re.compile(r"#![^\n]*?sh(?P<options>(?:\s+[-+]?\w+)+)")


def build(text: str, *, errexit: bool = False, pipefail: bool = False) -> Step:
    """Return the steps of a shell text.

    Args:
        errexit, pipefail: what its caller turned on: ``bash -eo pipefail {0}``.
    Source: tree-sitter-bash. Blind to: what ``source`` and ``eval`` bring in.
    """
    script = _build(root_of(text), 0) or Step(kind="script", line=1, text="")
    shebang = _SHEBANG.match(text)
    told = turned_on(shebang["options"].split()) if shebang is not None else (False, False)
    _Options(errexit=errexit or told[0], pipefail=pipefail or told[1]).mark(script)
    return script


def turned_on(words: Sequence[str]) -> tuple[bool, bool]:
    """Return whether the options of a shell turn errexit on, and pipefail: ``-e``, ``-eo pipefail``."""
    short = [word for word in words if re.fullmatch(r"-[a-zA-Z]+", word)]
    named = {after for word, after in pairwise(words) if word in short and word.endswith("o")}
    return "errexit" in named or any("e" in word for word in short), "pipefail" in named


def plain(node: Any) -> str:
    """Return a word as the command gets it, but for expansions, which stay as they are written."""
    if node.type == "concatenation":
        return "".join(plain(child) for child in node.children)
    text = _text(node)
    if node.type == "string":
        return re.sub(r'\\(["\\$`])', r"\1", text[1:-1])
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "command_name":
        return "".join(plain(child) for child in node.children) or text
    return re.sub(r"\\(.)", r"\1", text) if node.type == "word" else text


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace"))


def _step(kind: str, node: Any, parts: list[Step] | None = None, **more: Any) -> Step:
    step = Step(kind=kind, line=node.start_point[0] + 1, text=_text(node), **more)
    for part in parts or ():
        part.parent, part.place = step, len(step.parts)
        step.parts.append(part)
    return step


def _build(node: Any, depth: int) -> Step | None:
    if depth > _DEEPEST:
        return None
    kind = node.type
    if kind in _SEQUENCES:
        return _step(_SEQUENCES[kind], node, _sequence(node.children, depth))
    if kind == "command":
        return _command(node, depth)
    if kind == "redirected_statement":
        return _redirected(node, depth)
    if kind == "list":
        return _list(node, depth)
    if kind == "pipeline":
        return _step("pipeline", node, _parts(node, depth))
    if kind == "negated_command":
        return _step("not", node, _parts(node, depth))
    if kind == "test_command":
        return _step("test", node, _within(node, depth))
    if kind in ("if_statement", "elif_clause"):
        return _if(node, depth)
    if kind in ("while_statement", "for_statement", "c_style_for_statement"):
        return _loop(node, depth)
    if kind == "case_statement":
        return _step("case", node, _roled(_parts(node, depth), "body"))
    if kind == "function_definition":
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        built = _build(body, depth + 1) if body is not None else None
        return _step("function", node, [built] if built else [], name=_text(name) if name is not None else "")
    if kind == "declaration_command":
        word = _text(node.children[0]) if node.children else ""
        return _step("declare", node, _parts(node, depth), name=word)
    if kind == "variable_assignment":
        name = node.child_by_field_name("name")
        return _step("assign", node, _within(node, depth), name=_text(name) if name is not None else "")
    return None


def _parts(node: Any, depth: int) -> list[Step]:
    return [step for child in node.named_children if (step := _build(child, depth + 1)) is not None]


def _roled(steps: list[Step], role: str) -> list[Step]:
    for step in steps:
        step.role = role
    return steps


def _sequence(nodes: list[Any], depth: int) -> list[Step]:
    steps: list[Step] = []
    for node in nodes:
        if node.type == "&" and steps:
            steps[-1].is_background = True
        elif node.type == "ERROR":
            steps += _sequence(node.children, depth + 1) if depth < _DEEPEST else []
        elif node.is_named and (step := _build(node, depth + 1)) is not None:
            steps.append(step)
    return steps


def _command(node: Any, depth: int) -> Step:
    words = [child for child in node.children if child.type == "command_name" or child.type in _WORDS]
    return _step(
        "command",
        node,
        _roled(_within(node, depth), "argument"),
        words=tuple(plain(word) for word in words),
        raw=tuple(_text(word) for word in words),
    )


def _redirected(node: Any, depth: int) -> Step | None:
    body = node.child_by_field_name("body")
    built = _build(body, depth + 1) if body is not None else None
    if built is not None:
        built.text, built.line = _text(node).partition("\n")[0] if "<<" in _text(node) else _text(node), built.line
    return built


def _list(node: Any, depth: int) -> Step | None:
    operator = next((child.type for child in node.children if child.type in ("&&", "||")), "")
    parts = _parts(node, depth)
    if not operator or len(parts) != 2:
        return parts[0] if len(parts) == 1 else _step("group", node, parts)
    return _step("and" if operator == "&&" else "or", node, parts)


def _if(node: Any, depth: int) -> Step:
    then = next((index for index, child in enumerate(node.children) if child.type == "then"), len(node.children))
    conditions = _roled(_sequence(node.children[:then], depth), "condition")
    rest = node.children[then:]
    inside = [child for child in rest if child.type not in ("elif_clause", "else_clause")]
    body = _step("body", node, _sequence(inside, depth), role="body")
    others = [
        step for child in rest if child.type in ("elif_clause", "else_clause") if (step := _build(child, depth + 1))
    ]
    return _step("if", node, [*conditions, body, *_roled(others, "else")])


def _loop(node: Any, depth: int) -> Step:
    body = node.child_by_field_name("body")
    word = _text(node.children[0]) if node.children else ""
    before = [child for child in node.children if child != body] if node.type == "while_statement" else []
    conditions = _roled(_sequence(before, depth), "condition")
    built = _build(body, depth + 1) if body is not None else None
    return _step("loop", node, [*conditions, *_roled([built] if built else [], "body")], name=word)


def _within(node: Any, depth: int) -> list[Step]:
    """Return the substitutions inside of words."""
    found: list[Step] = []
    if depth > _DEEPEST:
        return found
    for child in node.named_children:
        if child.type in ("command_substitution", "process_substitution"):
            built = _build(child, depth + 1)
            found += [built] if built is not None else []
        elif child.type not in _SEQUENCES:
            found += _within(child, depth + 1)
    return found


class _Options:
    """What ``set`` was last told, in the order of the text; a function gets what the script ever turned on."""

    def __init__(self, *, errexit: bool, pipefail: bool) -> None:
        self.errexit: bool | None = errexit
        self.pipefail: bool | None = pipefail
        self._ever: list[bool] = [errexit, pipefail]
        self._unknown = False

    def mark(self, script: Step) -> None:
        functions: list[Step] = []
        self._walk(script, functions)
        while functions:
            self.errexit = self._ever[0] or (None if self._unknown else False)
            self.pipefail = self._ever[1] or (None if self._unknown else False)
            body = functions.pop()
            for part in body.parts:
                self._walk(part, functions)

    def _walk(self, step: Step, functions: list[Step]) -> None:
        step.errexit, step.pipefail = self.errexit, self.pipefail
        if step.kind == "function":
            functions.append(step)
            return
        if step.kind == "command" and step.words:
            self._told(step)
        if step.kind in ("subshell", "substitution"):
            kept = self.errexit, self.pipefail
            for part in step.parts:
                self._walk(part, functions)
            self.errexit, self.pipefail = kept
            return
        for part in step.parts:
            self._walk(part, functions)

    def _told(self, step: Step) -> None:
        name = step.words[0]
        if name in ("source", "."):
            if len(step.words) > 1 and not _HARMLESS_SOURCES.search(step.words[1]):
                self._unknown = True
                self.errexit, self.pipefail = self.errexit or None, self.pipefail or None
        elif name == "set":
            words = list(step.words[1:])
            for index, word in enumerate(words):
                turned = word[:1] == "-"
                if word[:1] not in "+-" or not word[1:]:
                    continue
                if "e" in word[1:]:
                    self._put(0, turned)
                if word.endswith("o") and index + 1 < len(words):
                    option = words[index + 1]
                    if option in ("errexit", "pipefail"):
                        self._put(("errexit", "pipefail").index(option), turned)

    def _put(self, which: int, turned: bool) -> None:
        if which:
            self.pipefail = turned
        else:
            self.errexit = turned
        self._ever[which] |= turned
