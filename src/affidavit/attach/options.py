"""The options of a parser: which of them nobody typed, so that a default is not taken for a request.

Only what is proven counts: an option is a default where the parser that made its value saw no word that could name it,
and nobody gave the parser other defaults (``set_defaults``, a namespace that was filled before, words from a file).

Source: CPython 3.10 to 3.14 argparse (``parse_known_args``, through which every other entry point goes).
Blind to: parsers that are none of argparse (click, tyro, hydra), and options that were parsed before anybody listened:
both pass for typed. A default that the script itself computes is a default.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_left: dict[str, str] = {}
"""Options that the parse which saw them last left at their defaults: the default, as Python writes it."""
_typed: set[str] = set()
_heard: list[Callable[..., Any]] = []


def hear_parsers(shielded: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Hear each parser from now on. Asking twice changes nothing."""
    parse = argparse.ArgumentParser.parse_known_args
    if parse in _heard:
        return
    remember = shielded(_remember)

    @functools.wraps(parse)
    def heard(self: Any, args: Any = None, namespace: Any = None, *more: Any, **others: Any) -> Any:
        before = dict(vars(namespace)) if hasattr(namespace, "__dict__") else {}
        words = list(sys.argv[1:]) if args is None else list(args)
        found = parse(self, args if args is None else words, namespace, *more, **others)
        remember(self, words, before, found[0])
        return found

    _heard.append(heard)
    argparse.ArgumentParser.parse_known_args = heard  # type: ignore[method-assign]


def is_left(name: str, value: object) -> bool:
    """Say whether ``value`` is the default of an option ``name`` that nobody typed."""
    return name in _left and _left[name] == repr(value)


def is_typed(name: str) -> bool:
    """Say whether an option ``name`` was typed for a library's own parser, which makes settings of its options."""
    return name in _typed


def _remember(parser: Any, words: Sequence[object], before: Mapping[str, object], parsed: object) -> None:
    # A library's parser may have its defaults from a file, which it writes straight into the options.
    is_plain = type(parser) is argparse.ArgumentParser
    for action in parser._actions:
        name, options = action.dest, action.option_strings
        _left.pop(name, None)
        _typed.discard(name)
        if any(_may_name(parser, str(word), options) for word in words):
            _typed.update(() if is_plain else (name,))
        elif is_plain and options and not (name in before or name in parser._defaults) and hasattr(parsed, name):
            _left[name] = repr(getattr(parsed, name))


def _may_name(parser: Any, word: str, options: Sequence[str]) -> bool:
    """Say whether a word could name an option; in doubt it does."""
    if parser.fromfile_prefix_chars and word[:1] in parser.fromfile_prefix_chars:
        return True
    if word[:1] not in parser.prefix_chars:
        return False
    name = word.partition("=")[0]
    return any(option.startswith(name) or (len(option) == 2 and word.startswith(option)) for option in options)
