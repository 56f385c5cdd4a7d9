"""What must not enter a git object store: once it is in an object, deleting the file does not take it out."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import PurePath
from typing import Final

_FILES: Final = (
    ".env",
    ".env.*",
    "*.env",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".htpasswd",
)
_SECRET_WORDS: Final = frozenset({"secret", "secrets", "credential", "credentials", "password", "passwords"})
# In code `token` is a unit of text: tokenizer.py, token_loss.py. In the name of a data file it is a key.
_TOKEN_WORDS: Final = frozenset({"token", "apikey"})
_SOURCE: Final = frozenset({".py", ".pyi", ".pyx", ".cu", ".cpp", ".c", ".h", ".sh", ".ipynb"})

_CONTENT: Final = {
    "private key": re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    "AWS access key id": re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "AWS secret key": re.compile(rb"(?i)aws_secret_access_key[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}\b"),
    "Hugging Face token": re.compile(rb"\bhf_[A-Za-z0-9]{30,}\b"),
    "GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})"),
    "API key": re.compile(rb"\bsk-[A-Za-z0-9_-]{32,}"),
    "Google API key": re.compile(rb"\bAIza[0-9A-Za-z_-]{35}"),
    "Slack token": re.compile(rb"\bxox[abpr]-[0-9A-Za-z-]{20,}"),
}


def secret_in_name(path: PurePath) -> str | None:
    """Why the name alone says "secret", or None.

    Source: DESIGN §6, snapshot; names from the ignore templates of common tools.
    Blind to: a secret under a plain name, which `secret_in_content` looks for.
    """
    name = path.name.lower()
    for pattern in _FILES:
        if fnmatch(name, pattern):
            return f"name matches {pattern}"
    words = set(re.split(r"[^a-z0-9]+", name))
    wanted = _SECRET_WORDS if path.suffix.lower() in _SOURCE else _SECRET_WORDS | _TOKEN_WORDS
    found = sorted(words & wanted)
    return f"name says {found[0]!r}" if found else None


def secret_in_content(content: bytes) -> str | None:
    """What kind of secret the bytes hold, or None; the secret itself is in no message.

    Source: DESIGN §6, snapshot; the published shapes of each provider's keys.
    Blind to: passwords without a shape, encrypted or encoded secrets.
    """
    return next((f"content holds a {kind}" for kind, shape in _CONTENT.items() if shape.search(content)), None)
