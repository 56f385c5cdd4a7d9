"""Secrets are taken out where text is captured, before anything of it is written, and are never hashed.

Source: critic-practitioner §1 "Secrets, privacy"; DESIGN §5.9.
Blind to: a secret that looks like an ordinary word and stands under an ordinary name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

HIDDEN = "[redacted]"

_NAME = re.compile(
    r"(pass(wd|word|phrase)?|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth|bearer|dsn|cookie)"
    r"|(^|[-_.])(key|pw)$",
    re.IGNORECASE,
)
_INNOCENT = re.compile(
    r"(num|max|min|n|eos|bos|pad|unk|sep|cls|mask|special|image|per|total|new|seen|input|add|tie)[-_].*token"
    r"|token(s|izer|isation|ization|ized|ize)\b|tokens?[-_](per|ids?|type|count|limit|budget)|tokenizer|author",
    re.IGNORECASE,
)
_SHAPES = (
    re.compile(r"\b(hf|ghp|gho|ghs|github_pat|glpat|sk|pk|rk|xox[abprs]|AKIA|ASIA|AIza|ya29|wandb)[-_A-Za-z0-9]{14,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL),
)
_URL = re.compile(r"([a-z][a-z0-9+.-]*://)[^/\s@]+@", re.IGNORECASE)
_QUERY = re.compile(r"([?&][^=&\s]*(?:token|key|secret|sig|signature|password|auth)[^=&\s]*=)[^&\s#]+", re.IGNORECASE)
_PAIR = re.compile(r"""(["']?)([\w.-]+)\1(\s*[:=]\s*)(["']?)([^\s"',}{]+)\4""")
_OPAQUE = re.compile(r"(?<![\w/.-])[A-Za-z0-9+/_=-]{32,}(?![\w/.-])")


def is_secret_name(name: str) -> bool:
    """Say whether a name announces a secret; ``max_new_tokens`` and ``tokenizer`` do not."""
    return bool(_NAME.search(name)) and not _INNOCENT.search(name)


def redact(text: str) -> str:
    """Return text with every secret in it replaced: by shape, by the name before it, by entropy, in URLs."""
    for shape in _SHAPES:
        text = shape.sub(HIDDEN, text)
    text = _QUERY.sub(rf"\1{HIDDEN}", _URL.sub(rf"\1{HIDDEN}@", text))
    text = _PAIR.sub(_hide_named, text)
    return _OPAQUE.sub(lambda match: HIDDEN if _is_opaque(match[0]) else match[0], text)


def redact_value(name: str, text: str) -> str:
    """Return a named value's text, wholly hidden where the name announces a secret."""
    return HIDDEN if text and is_secret_name(name) else redact(text)


def redact_arguments(argv: Iterable[str]) -> tuple[str, ...]:
    """Return a command line with its secrets hidden, also where a flag and its value are two words."""
    found: list[str] = []
    hide_next = False
    for word in argv:
        flag, equals, value = word.partition("=")
        if hide_next and not word.startswith("-"):
            found.append(HIDDEN)
        elif word.startswith("-") and equals:
            found.append(f"{flag}={redact_value(flag.lstrip('-'), value)}")
        else:
            found.append(redact(word))
        hide_next = word.startswith("-") and not equals and is_secret_name(word.lstrip("-"))
    return tuple(found)


def _hide_named(match: re.Match[str]) -> str:
    quote, name, between, opening, value = match.groups()
    if not is_secret_name(name):
        return match[0]
    return f"{quote}{name}{quote}{between}{opening}{HIDDEN if value else ''}{opening}"


def _is_opaque(word: str) -> bool:
    """Say whether a long word is random: hexadecimal digests are not secrets, and paths are not words."""
    if re.fullmatch(r"[0-9a-f]+", word) or not (re.search(r"\d", word) and re.search(r"[A-Za-z]", word)):
        return False
    counts = Counter(word)
    entropy = -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())
    return entropy > 4.2
