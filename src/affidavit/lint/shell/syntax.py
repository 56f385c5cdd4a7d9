"""The syntax tree of shell text: one parser, and the guard that its grammar needs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from affidavit.lint.shell.command import FOREIGN

_NO_ASCII = re.compile(r"[^\x01-\x7f]")


def root_of(text: str) -> Any:
    """Return the root of the tree of a shell script; its offsets are those of the text, one byte a character.

    Source: tree-sitter-bash. Blind to: what is no ASCII, for which one other character stands.
    """
    # The grammar's scanner looks characters up in tables of ASCII, and ends the process on one that lies far outside.
    return _parser().parse(_NO_ASCII.sub(FOREIGN, text).encode()).root_node


@cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
