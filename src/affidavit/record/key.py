"""One key: Ed25519 in PEM, as every other tool reads it, and the public half in one line, as settings hold it.

A private key lies with its user, never with a project. A public key is committed, so that whom a project believes is
reviewed like code. A key is called by the SHA-256 of its public half in DER, which ``openssl pkey -pubin -outform DER
| sha256sum`` shows, too.

Source: RFC 8032 (Ed25519), RFC 8410 (its PEM).
Blind to: who else holds the private key.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]

DEFAULT = "affidavit"
VARIABLE = "AFFIDAVIT_KEY"
PASSWORD = "AFFIDAVIT_KEY_PASSWORD"
SIZE_BYTES = 1 << 14
WRITTEN = "ed25519:"
"""How a public key begins that is written out, where a file could be named."""
_BYTES = 32
SHORT = 12
"""How much of a key's id a person is shown."""


class SigningUnavailableError(AffidavitError):
    """What signs and verifies is not installed."""


class KeyFileError(AffidavitError):
    """A key's file is missing, cannot be read, or holds another kind of key."""


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """A key that verifies: the file or the line it came from, its id, its 32 bytes."""

    name: str
    id: str
    raw: bytes

    def handle(self) -> SSlibKey:
        """Return it as securesystemslib knows it."""
        with needing_the_extra():
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]
        return SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(self.raw), keyid=self.id)


@dataclass(frozen=True, kw_only=True)
class PrivateKey:
    """A key that signs; it is not shown by anything that prints this."""

    public: PublicKey
    secret: _Secret

    def signer(self) -> CryptoSigner:
        """Return what signs with it."""
        with needing_the_extra():
            from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]
        return CryptoSigner(self.secret.key, self.public.handle())


class _Secret:
    """Holds a private key where no ``repr`` finds it."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self.key = key


def folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of this user's private keys."""
    environment = os.environ if environment is None else environment
    config = environment.get("XDG_CONFIG_HOME", "")
    home = Path(config) if Path(config).is_absolute() else Path(environment.get("HOME") or Path.home()) / ".config"
    return home / "affidavit" / "keys"


def locate(setting: str, root: Path, environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the private key that signs here, or None where nobody signs.

    Args:
        setting: a name below :func:`folder`, or a path, from ``root`` where it is relative.
    """
    environment = os.environ if environment is None else environment
    named = environment.get(VARIABLE, "")
    if named:
        return Path(named)
    if not setting:
        return None
    if "/" in setting:
        return root / Path(setting).expanduser()
    return folder(environment) / f"{setting}.pem"


def new(
    name: str, *, public: Path, environment: Mapping[str, str] | None = None, password: str = ""
) -> tuple[Path, PublicKey]:
    """Return the path of a new private key, and its public half, which lies in ``public``. Nothing is overwritten.

    It is encrypted with ``password``, or where AFFIDAVIT_KEY_PASSWORD says with what.

    Raises:
        SigningUnavailableError: the extra is not installed.
        KeyFileError: a name that is none, or a file that is there already.
        OSError: a folder cannot be written.
    """
    place = folder(environment)
    path = place / f"{name}.pem"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise _unusable(f'key "{name}"', "a name of letters, digits, . _ -", "another", "Choose another --name.")
    inside = place.resolve().is_relative_to(public.parent.resolve())
    if inside:
        move = "Set XDG_CONFIG_HOME to a folder outside of it."
        raise _unusable(f"key {name}", f"a place outside of {public.parent}", str(place), move)
    for there in (path, public):
        if os.path.lexists(there):
            action = f'Choose another --name, or use it here: "affidavit key show --name {name} > {public.name}".'
            raise _unusable(f"key {name}", "no file under its names", f"{there} is there", action)
    with needing_the_extra():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import (
            BestAvailableEncryption,
            Encoding,
            NoEncryption,
            PrivateFormat,
        )
    made = Ed25519PrivateKey.generate()
    secret = password or (os.environ if environment is None else environment).get(PASSWORD, "")
    guard = BestAvailableEncryption(secret.encode()) if secret else NoEncryption()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.chmod(0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, guard))
    found = _public(made, str(path))
    file.place_once(public, pem(found))
    public.chmod(0o644)
    return path, found


def read_private(path: Path, environment: Mapping[str, str] | None = None) -> PrivateKey:
    """Return the private key that a file holds.

    Raises:
        SigningUnavailableError: the extra is not installed.
        KeyFileError: missing, no Ed25519 key in PEM, or encrypted with another passphrase than the variable says.
    """
    raw = _read(path.resolve(), f"private key {path}")  # a mounted secret is a link
    with needing_the_extra():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    password = (os.environ if environment is None else environment).get(PASSWORD, "").encode() or None
    if password is not None and b"ENCRYPTED" not in raw:
        password = None  # it is for another key
    expected = f"an Ed25519 private key in PEM (encrypted: {PASSWORD} opens it)"
    try:
        key = load_pem_private_key(raw, password)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unusable(f"private key {path}", expected, str(error).partition("\n")[0] or "another") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _unusable(f"private key {path}", expected, type(key).__name__)
    return PrivateKey(public=_public(key, str(path)), secret=_Secret(key))


def exposed(path: Path) -> str:
    """Return how others can use a private key that is not encrypted, or "".

    A link is a mounted secret, whose mode is not its user's to choose.
    """
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or not status.st_mode & 0o077 or b"ENCRYPTED" in _read(path, str(path)):
        return ""
    return f"{path} has mode {stat.S_IMODE(status.st_mode):04o}, and whoever can read it signs as you: chmod 600"


def read_public(path: Path) -> PublicKey:
    """Return the public key that a file holds.

    Raises:
        SigningUnavailableError: the extra is not installed.
        KeyFileError: missing, or no Ed25519 key in PEM.
    """
    subject = f"public key {path.name}"
    raw = _read(path, subject)
    with needing_the_extra():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    try:
        key = load_pem_public_key(raw)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        saw = "a private one" if b"PRIVATE" in raw else str(error).partition("\n")[0] or "another"
        raise _unusable(subject, "an Ed25519 public key in PEM", saw) from error
    if not isinstance(key, Ed25519PublicKey):
        raise _unusable(subject, "an Ed25519 public key in PEM", type(key).__name__)
    return _named(key.public_bytes_raw(), path.name)


def parse_public(text: str) -> PublicKey:
    """Return the public key that a line holds: ``ed25519:`` and its 32 bytes in base64, then what it is called.

    Raises:
        KeyFileError: other bytes, or another spelling of them.
    """
    written, _, called = text.removeprefix(WRITTEN).partition(" ")
    try:
        raw = base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not text.startswith(WRITTEN) or len(raw) != _BYTES or base64.b64encode(raw).decode() != written:
        raise _unusable("public key", f"{WRITTEN} and {_BYTES} bytes in base64", f"{text!a:.80}")
    return _named(raw, called.strip() or f"{text[: len(WRITTEN) + SHORT]}…")


def line(key: PublicKey, called: str) -> str:
    """Return a public key in the one line that :func:`parse_public` reads."""
    return f"{WRITTEN}{base64.b64encode(key.raw).decode()} {called}"


def pem(key: PublicKey) -> bytes:
    """Return a public key as it is committed."""
    with needing_the_extra():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    held = Ed25519PublicKey.from_public_bytes(key.raw)
    return held.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@contextlib.contextmanager
def needing_the_extra() -> Iterator[None]:
    """Turn the absence of what signs into one message that says how to get it."""
    try:
        yield
    except ImportError as error:
        raise SigningUnavailableError(
            refusal(
                subject="signatures",
                expected="cryptography and securesystemslib",
                saw=f"no {error.name or error}",
                means="Nothing can be signed here, and no signature be checked.",
                action="Run \"pip install 'affidavit[sign]'\".",
                unaffected="the seal, which shows accidental edits without a signature",
            )
        ) from error


def _public(key: Ed25519PrivateKey, name: str) -> PublicKey:
    return _named(key.public_key().public_bytes_raw(), name)


def _named(raw: bytes, name: str) -> PublicKey:
    der = bytes.fromhex("302a300506032b6570032100") + raw  # SubjectPublicKeyInfo of RFC 8410, around the 32 bytes
    return PublicKey(name=name, id=hashlib.sha256(der).hexdigest(), raw=raw)


def _read(path: Path, subject: str) -> bytes:
    try:
        return file.read(path, limit=SIZE_BYTES)
    except file.FileShapeError as error:
        raise _unusable(subject, "a file", str(error)) from error


def _unusable(subject: str, expected: str, saw: str, action: str = "") -> KeyFileError:
    return KeyFileError(
        refusal(
            subject=subject,
            expected=expected,
            saw=saw,
            means="It can neither sign nor verify.",
            action=action or 'Run "affidavit key new", or mend [seal] in affidavit.toml.',
            unaffected="what is sealed already, and the files that are there",
        )
    )
