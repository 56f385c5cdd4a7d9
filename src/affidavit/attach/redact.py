"""Secrets are taken out where text is captured, before anything of it is written, and are never hashed.

Every pattern is bounded on the left and in length, so that a long text costs no more than reading it.

Source: critic-practitioner §1 "Secrets, privacy"; DESIGN §5.9.
Blind to: a secret that looks like an ordinary word, or a digest, and stands under an ordinary name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

HIDDEN = "[redacted]"

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# fmt: off
_SECRET = frozenset((
    "apikey", "auth", "authorization", "bearer", "cookie", "cookies", "credential", "credentials", "dsn", "passphrase",
    "passwd", "password", "passwords", "pwd", "secret", "secrets", "sig", "signature", "token",
))
_SECRET_AT_THE_END = frozenset(("key", "keys", "pass", "pw"))
_TOKEN_OF_TEXT = frozenset((
    "add", "bos", "budget", "cls", "count", "eos", "id", "ids", "image", "input", "limit", "mask", "max", "min", "n",
    "new", "num", "pad", "per", "seen", "sep", "special", "tie", "total", "type", "unk",
))
# fmt: on
"""Beside one of these, a token is a piece of text."""

_SHAPES = (
    re.compile(
        r"(?<![A-Za-z0-9])(?:hf|gh[opsur]|github_pat|glpat|sk|pk|rk|xox[abeprs]|AKIA|ASIA|AIza|ya29|wandb)"
        r"[-_A-Za-z0-9.]{14,400}"
    ),
    re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{0,4000}"),
    re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.S),
    re.compile(r"(?<=\bBearer )[\w.~+/=-]{8,4000}"),
)
_URL = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^/\s@]{1,400}@")
_QUERY = re.compile(r"(?<=[?&])([\w.-]{1,80})=([^&\s#\"']{1,4000})")
_PAIR = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]{1,80})(?P<between>[\"']?\s{0,8}[:=]\s{0,8})"
    r"(?P<value>\"[^\"\n]{0,4000}\"|'[^'\n]{0,4000}'|(?:(?:Bearer|Basic|Digest|Token)\s)?[^\s\"',}{)\]&#]{1,4000})"
)
_LONG = re.compile(r"(?<![\w/.-])[A-Za-z0-9+/_-]{32,4000}(?![\w/-]|\.\w)")
_OPAQUE = 0.3
"""Neighbouring letters and digits of a random word change their kind in half of all places, those of a name seldom."""


def is_secret_name(name: str) -> bool:
    """Say whether a name announces a secret; ``max_new_tokens``, ``tokenizer`` and ``author`` do not."""
    words = [word.lower() for word in _WORDS.findall(name)]
    found = _SECRET.intersection(words)
    if found == {"token"} and _TOKEN_OF_TEXT.intersection(words):
        return False
    return bool(found) or (bool(words) and words[-1] in _SECRET_AT_THE_END)


def redact(text: str) -> str:
    """Return text with every secret in it replaced: by shape, by the name before it, by randomness, in URLs."""
    for shape in _SHAPES:
        text = shape.sub(HIDDEN, text)
    text = _URL.sub(rf"\1{HIDDEN}@", text)
    text = _QUERY.sub(_hide_parameter, text)
    text = _PAIR.sub(_hide_named, text)
    return _LONG.sub(lambda match: HIDDEN if _is_opaque(match[0]) else match[0], text)


def redact_value(name: str, text: str) -> str:
    """Return a named value's text, wholly hidden where the name announces a secret."""
    return HIDDEN if text and is_secret_name(name) else redact(text)


def redact_arguments(argv: Iterable[str]) -> tuple[str, ...]:
    """Return a command line with its secrets hidden, also where a flag and its value are two words."""
    found: list[str] = []
    hide_next = False
    for word in argv:
        flag, equals, value = word.partition("=")
        is_flag = word.startswith("-") and word != "-"
        if hide_next and not is_flag:
            found.append(HIDDEN)
        elif is_flag and equals:
            found.append(f"{flag}={redact_value(flag.lstrip('-'), value)}")
        else:
            found.append(redact(word))
        hide_next = is_flag and not equals and is_secret_name(word.lstrip("-"))
    return tuple(found)


def _hide_parameter(match: re.Match[str]) -> str:
    name, value = match.groups()
    return f"{name}={HIDDEN if is_secret_name(name) else value}"


def _hide_named(match: re.Match[str]) -> str:
    name, between, value = match["name"], match["between"], match["value"]
    if HIDDEN[:-1] in value:  # a value ends before a bracket
        return match[0]
    if not is_secret_name(name):  # "error: password=x" is a pair in a pair; one deep, so that the cost stays linear
        return f"{name}{between}{_PAIR.sub(_hide_inner, value)}"
    return _hide_inner(match)


def _hide_inner(match: re.Match[str]) -> str:
    name, between, value = match["name"], match["between"], match["value"]
    if value in ('""', "''") or HIDDEN in value or not is_secret_name(name):
        return match[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{between}{quote}{HIDDEN}{quote}"


def _is_opaque(word: str) -> bool:
    """Say whether a long word is random; a digest is not secret, and the parts of a path or a name are words."""
    if (
        re.fullmatch(r"[0-9a-f-]+|[0-9A-F-]+", word)
        or not re.search(r"[0-9]", word)
        or not re.search(r"[A-Za-z]", word)
    ):
        return False
    kinds = ["0" if letter.isdigit() else "a" if letter.islower() else "A" for letter in word if letter.isalnum()]
    return sum(left != right for left, right in pairwise(kinds)) >= _OPAQUE * len(word)
