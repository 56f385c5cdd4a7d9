"""One document, one sequence of bytes: RFC 8785 out, and a parse that takes nothing back that we would not write.

Ordinary JSON is many documents under one name: a doubled key, NaN, 2^53+1 and a lone surrogate each read differently
in the next program, and a digest over them proves nothing.

Source: RFC 8785; anchors-provenance §11.1 (``jcs`` turns 2^53+1 into 2^53 without a word; ``rfc8785`` refuses).
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import NoReturn

import rfc8785

from affidavit.fact.encoding import EXACT_INTEGER
from affidavit.fact.errors import AffidavitError
from affidavit.fact.values import Digest

DEPTH = 100
"""No document of ours is nested as deep as this; one that is would end some reader's stack."""


class CanonicalError(AffidavitError):
    """A document has no canonical bytes, or bytes are no document that we write."""


def encode(document: object) -> bytes:
    """Return the RFC 8785 bytes of a document.

    Raises:
        CanonicalError: a key that is not ASCII, a number that JSON cannot hold exactly, a lone surrogate, another type.
    """
    _check(document, "$")
    try:
        return rfc8785.dumps(document)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise CanonicalError(f"document: no canonical bytes: {error}.") from error


def digest(document: object) -> Digest:
    """Return the SHA-256 of a document's canonical bytes."""
    return digest_bytes(encode(document))


def digest_bytes(raw: bytes) -> Digest:
    return Digest("sha256", hashlib.sha256(raw).hexdigest())


def parse(raw: bytes) -> object:
    """Return the document that bytes hold, read strictly.

    Raises:
        CanonicalError: not UTF-8, not JSON, a doubled or non-ASCII key, NaN or Infinity, an integer that is no double,
            a lone surrogate, or nested beyond reading.
    """
    try:
        document: object = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_refuse_constant,
            parse_int=_number,
            parse_float=_finite,
        )
        _check(document, "$")
    except CanonicalError:
        raise
    except (ValueError, RecursionError) as error:
        raise CanonicalError(f"expected JSON, saw {type(error).__name__}: {error}") from error
    return document


def legible(document: object) -> object:
    """Return a document in which every lone surrogate is written out (``\\udc80``), so that it has canonical bytes.

    A file name need not be UTF-8, and one such name in a message must not keep a whole run from being sealed.
    """
    if isinstance(document, str):
        return document.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(document, dict):
        return {key: legible(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [legible(value) for value in document]
    return document


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise CanonicalError(f'the key "{key:.80}" stands twice')
        found[key] = value
    return found


def _refuse_constant(constant: str) -> NoReturn:
    raise CanonicalError(f"{constant} is no number in JSON")


def _number(text: str) -> int | float:
    """Return an integer, or the double that RFC 8785 writes without a point; anything between is not exact."""
    if len(text.lstrip("-")) <= 16 and -EXACT_INTEGER < int(text) < EXACT_INTEGER:
        return int(text)
    number = _finite(text)
    if rfc8785.dumps(number) != text.encode():
        raise CanonicalError(f"{text:.40} is no number that JSON holds exactly")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise CanonicalError(f"{text:.40} is beyond every double")
    return number


def _check(document: object, path: str, depth: int = 0) -> None:
    if depth > DEPTH:
        raise CanonicalError(f"{path[:40]}…: nested beyond reading")
    if isinstance(document, dict):
        for key, value in document.items():
            if not isinstance(key, str) or not key.isascii():
                raise CanonicalError(f"{path}: expected ASCII keys, saw {key!r:.80}")
            _check(value, f"{path}.{key}", depth + 1)
    elif isinstance(document, list | tuple):
        for place, value in enumerate(document):
            _check(value, f"{path}[{place}]", depth + 1)
    elif isinstance(document, str):
        try:
            document.encode()
        except UnicodeEncodeError as error:
            raise CanonicalError(f"{path}: a lone surrogate has no UTF-8 bytes") from error
