"""Shell text as simple commands, in the order they are written, with the values that plain assignments gave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from affidavit.lint.shell.command import Command, Word
from affidavit.lint.shell.expansion import LONGEST, Value, expand
from affidavit.lint.shell.syntax import root_of

_BRANCHES = frozenset(
    {
        *("if_statement", "elif_clause", "else_clause", "case_statement", "case_item"),
        *("for_statement", "c_style_for_statement", "while_statement", "do_group"),
        *("subshell", "command_substitution", "process_substitution", "list", "pipeline"),
    }
)
"""Where an assignment may not happen, or happens more than once, or is gone afterwards."""
_WORDS = frozenset(
    {
        *("word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation"),
        *("simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"),
        *("brace_expression", "regex", "extglob_pattern", "array"),
    }
)
_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts", "eval", "unset", "printf"})
_DEEPEST = 150


def commands(text: str) -> tuple[Command, ...]:
    """Return every simple command of a shell script.

    A place that is no shell is passed over; what stands around it is read.

    Source: tree-sitter-bash, and POSIX sh §2.6 for the order of expansions.
    Blind to: aliases, ``eval``, what ``source`` brings in, which branch is taken, arguments of functions.
    """
    reader = _Reader()
    found = list(reader.walk(root_of(text), 0))
    for body in reader.bodies:
        reader.forget_changed()
        reader.folder = "?" if reader.folder else ""
        found += reader.walk(body, 0)
    return tuple(sorted(found, key=lambda command: command.line))


class _Reader:
    """One pass over a script: what its variables hold at this point, and which were set more than once."""

    def __init__(self) -> None:
        self.values: dict[str, Value | None] = {}
        self.bodies: list[Any] = []
        self.folder = ""
        self._set: dict[str, int] = {}

    def walk(self, node: Any, depth: int) -> Iterator[Command]:
        """Yield the commands under a node."""
        if depth > _DEEPEST:
            return
        kind = node.type
        if kind == "function_definition":
            body = node.child_by_field_name("body")
            if body is not None:
                self.bodies.append(body)
        elif kind == "command":
            yield from self._command(node, None, depth)
        elif kind == "redirected_statement":
            body = node.child_by_field_name("body")
            fed = next((child for child in node.children if child.type == "heredoc_redirect"), None)
            if body is not None and body.type == "command":
                yield from self._command(body, fed, depth)
            elif body is not None:
                yield from self.walk(body, depth + 1)
            if fed is not None:
                for child in fed.named_children:
                    if child.type in ("command", "pipeline", "list", "redirected_statement"):
                        yield from self.walk(child, depth + 1)
        elif kind == "variable_assignment":
            self._assign(node)
            yield from self._within(node, depth)
        elif kind in ("declaration_command", "unset_command"):
            yield from self._declare(node, depth)
        elif kind in _BRANCHES:
            yield from self._branch(node, depth)
        else:
            for child in node.named_children:
                yield from self.walk(child, depth + 1)

    def forget_changed(self) -> None:
        """Forget what was set more than once: a function may be called at any point between."""
        for name, times in self._set.items():
            if times > 1:
                self.values[name] = None

    def _branch(self, node: Any, depth: int) -> Iterator[Command]:
        """Walk what may not happen; what is set in it is not known afterwards, nor before it in a loop."""
        is_sequence = node.type == "list" and all(child.type != "||" for child in node.children)
        names = set(_assigned(node))
        if node.type in ("for_statement", "while_statement", "c_style_for_statement", "do_group"):
            self.values.update(dict.fromkeys(names))
        kept, folder = dict(self.values), self.folder
        for child in node.named_children:
            if child.type in ("elif_clause", "else_clause", "case_item") or node.type == "pipeline":
                self.values, self.folder = dict(kept), folder
            yield from self.walk(child, depth + 1)
        if is_sequence:
            return
        self.values = kept
        self.values.update(dict.fromkeys(names))
        if node.type in ("subshell", "command_substitution", "process_substitution"):
            self.folder = folder
        elif self.folder != folder:
            self.folder = "?"

    def _command(self, node: Any, fed: Any, depth: int) -> Iterator[Command]:
        words: list[Word] = []
        assigned: list[str] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assigned.append(child.text.decode("utf-8", "replace"))
            elif child.type == "command_name" or child.type in _WORDS:
                words += expand(child, self.values)
        yield from self._within(node, depth)
        if not words:
            return
        name = words[0].guess
        if name == "cd":
            self.folder = words[1].text if len(words) == 2 and words[1].is_sure else "?"
        elif name in _SETTERS:
            for word in words[1:]:
                if word.text.isidentifier():
                    self._put(word.text, None)
        body = next((child for child in fed.named_children if child.type == "heredoc_body"), None) if fed else None
        yield Command(
            words=tuple(words),
            line=node.start_point[0] + 1,
            assigned=tuple(assigned),
            fed=body.text.decode("utf-8", "replace") if body is not None else "",
            fed_line=body.start_point[0] if body is not None else 0,
            folder=self.folder,
        )

    def _within(self, node: Any, depth: int) -> Iterator[Command]:
        """Yield the commands that substitutions inside of words run."""
        if depth > _DEEPEST:
            return
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                yield from self._branch(child, depth + 1)
            elif child.type in ("string", "concatenation", "command_name", "array"):
                yield from self._within(child, depth + 1)

    def _declare(self, node: Any, depth: int) -> Iterator[Command]:
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child)
                yield from self._within(child, depth)
            elif child.type == "variable_name" and node.type == "unset_command":
                self._put(child.text.decode("utf-8", "replace"), None)

    def _assign(self, node: Any) -> None:
        name_node, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name_node is None:
            return
        name = name_node.text.decode("utf-8", "replace")
        if name_node.type != "variable_name":
            self._put(name.partition("[")[0], None)
            return
        is_added = any(child.type == "+=" for child in node.children)
        self._put(name, self._added(name, value_node) if is_added else self._value(value_node, node))

    def _value(self, node: Any, assignment: Any) -> Value | None:
        if node is None:
            return (Word(text="", line=assignment.start_point[0] + 1),)
        if node.type == "array":
            return tuple(word for child in node.named_children for word in expand(child, self.values))
        return (_joined(expand(node, self.values, is_quoted=True), node.start_point[0] + 1),)

    def _added(self, name: str, node: Any) -> Value | None:
        before, more = self.values.get(name), self._value(node, node) if node is not None else None
        if before is None or more is None:
            return None
        if node.type == "array":
            return (*before, *more)
        whole = _joined((*before, *more), more[0].line)
        return (whole,) if len(before) == 1 and len(whole.text) <= LONGEST else None

    def _put(self, name: str, value: Value | None) -> None:
        self.values[name] = value
        self._set[name] = self._set.get(name, 0) + 1


def _joined(words: Value, line: int) -> Word:
    """Return words as the one text that a variable holds."""
    return Word(text="".join(word.text for word in words), line=line)


def _assigned(node: Any) -> Iterator[str]:
    """Yield the variables that are set anywhere under a node."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type == "variable_assignment" and one.parent is not None and one.parent.type != "command":
            name = one.child_by_field_name("name")
            if name is not None:
                yield name.text.decode("utf-8", "replace").partition("[")[0]
        elif one.type == "for_statement":
            name = one.child_by_field_name("variable")
            if name is not None:
                yield name.text.decode("utf-8", "replace")
        stack.extend(one.named_children)
