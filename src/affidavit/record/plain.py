"""The form of a value that people read and write in TOML: scalars and lists of strings as they are, the rest tagged."""

from __future__ import annotations

from affidavit.fact.encoding import EXACT_INTEGER, from_json, to_json
from affidavit.fact.term import Term, TermShapeError
from affidavit.fact.values import Digest, Value


def plain(value: Value) -> object:
    """Return the TOML form of a value; what TOML cannot hold keeps its JSON form as a table."""
    if type(value) in (bool, float) or (type(value) is int and -EXACT_INTEGER < value < EXACT_INTEGER):
        return value
    tagged = to_json(value)
    ((tag, body),) = tagged.items()
    texts = body if tag == "strings" and isinstance(body, list) else [body]
    is_native = tag in ("str", "strings", "digest") and all(isinstance(text, str) for text in texts)
    return body if is_native else tagged


def read(term: Term, raw: object) -> Value:
    """Return the value of a term that TOML holds.

    Raises:
        TermShapeError: of another type than the term's.
        ValueShapeError: a table that is no tagged value.
    """
    value: Value | None = None
    if isinstance(raw, dict):
        value = from_json(raw)
    elif isinstance(raw, list) and all(isinstance(item, str) for item in raw):
        value = tuple(raw)
    elif term.type is Digest and isinstance(raw, str):
        value = Digest.parse(raw)
    elif term.type is float and type(raw) is int:
        value = float(raw)
    elif type(raw) in (bool, int, float, str):
        value = raw  # type: ignore[assignment]
    if value is None or not term.admits(value):
        raise TermShapeError(f"{term.name}: expected a {term.type.__name__}, saw {raw!r:.80}.")
    return value
