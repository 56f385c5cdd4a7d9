"""Numbers that are text to their reader: ``3e-4`` is none in YAML 1.1, and a dataclass checks no types."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from affidavit.lint.configs.document import Document, Entry, last
from affidavit.lint.request import Field

_FLOAT = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_EXPONENT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+")
_NUMBERS_ONLY = ("lr_scheduler_kwargs",)
"""Mappings that hold nothing but numbers, whose values no parser converts."""


def text_numbers(document: Document, numeric: Container[str], reader: str) -> Iterator[Field]:
    """Yield the numbers that their reader leaves text, of the keys whose field holds a number.

    Source: hf-stack-spike §1 (``learning_rate: 3e-4`` reaches TrainingArguments as ``'3e-4'``).
    Blind to: a number in a list, and a key whose default says nothing of its type.
    """
    for entry in last(document.entries):
        if entry.key in numeric and entry.tag == "str" and _FLOAT.fullmatch(entry.raw):
            yield _field(document, entry, f"{reader} does not convert it")
    yield from nested_text_numbers(document)


def nested_text_numbers(document: Document) -> Iterator[Field]:
    """Yield the numbers in mappings that hold numbers only: no parser looks into those."""
    for entry in last(document.entries):
        if entry.key in _NUMBERS_ONLY:
            for inner in last(entry.inside):
                if inner.tag == "str" and inner.is_plain and _EXPONENT.fullmatch(inner.raw):
                    yield _field(document, inner, f"nobody converts what {entry.key} holds")


def doubtful_numbers(document: Document, numeric: Container[str]) -> Iterator[Field]:
    """Yield the plain numbers that YAML keeps as text, of a file whose reader is not known."""
    yield from _doubtful(document, document.entries, numeric)


def _doubtful(document: Document, entries: Iterable[Entry], numeric: Container[str]) -> Iterator[Field]:
    for entry in last(entries):
        if entry.key in numeric and entry.tag == "str" and entry.is_plain and _EXPONENT.fullmatch(entry.raw):
            yield _field(document, entry, "it is one only if its reader converts it")


def _field(document: Document, entry: Entry, why: str) -> Field:
    wrote = f"{entry.raw[:40]} is text" if entry.is_plain else f'"{entry.raw[:40]}" is text'
    dotted = _dotted(entry.raw)
    better = f"; write {dotted}" if dotted else ""
    return Field(path=document.path, line=entry.line, name=entry.key, kind="text", said=f"{wrote}, and {why}{better}")


def _dotted(raw: str) -> str:
    """Return a number as YAML 1.1 takes it for one: with a dot, and a sign in its exponent."""
    mantissa, mark, exponent = raw.lower().replace("_", "").partition("e")
    if not mark:
        return raw
    sign = exponent if exponent[:1] in "+-" else f"+{exponent}"
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}e{sign}"
