"""Programs that have never heard of us check what we sign: openssl and a DSSE library the signature, in-toto the rest.

Each is shown a broken twin, too: a verifier that accepts everything proves nothing.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse, ParseError
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from record_world import FLASH, fact, sealed

from affidavit.fact.values import Table
from affidavit.record import envelope, key, seal, statement

ENVELOPES = ("manifest.dsse.json", "head.dsse.json")


@dataclass(frozen=True)
class Signed:
    """A signed run as a stranger gets it: two envelopes and a public key."""

    folder: Path
    public: Path

    def document(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / name).read_bytes())
        return found


@pytest.fixture
def signed(tmp_path: Path) -> Signed:
    place = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    public = tmp_path / "project" / "ada.pub"
    public.parent.mkdir()
    path, _ = key.new("ada", public=public, environment=place)
    secret = key.read_private(path, place)
    folder = tmp_path / "run-1"
    folder.mkdir()
    sealed(folder, fact("attention.executed", FLASH))
    raw = (folder / "manifest.json").read_bytes()
    (folder / ENVELOPES[0]).write_bytes(envelope.sign(statement.of_manifest(raw), secret))
    (folder / ENVELOPES[1]).write_bytes(envelope.sign(statement.of_head(seal.read_head(folder)), secret))
    return Signed(folder, public)


def openssl(place: Path, document: dict[str, Any], public: Path) -> bool:
    """Say whether openssl finds that the key made the signature over what DSSE says is signed."""
    kind, payload = document["payloadType"].encode(), base64.b64decode(document["payload"])
    (place / "signed").write_bytes(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
    (place / "signature").write_bytes(base64.b64decode(document["signatures"][0]["sig"]))
    program = shutil.which("openssl")
    assert program is not None, "openssl is not on PATH"
    words = ["pkeyutl", "-verify", "-pubin", "-inkey", str(public), "-rawin"]
    words += ["-in", str(place / "signed"), "-sigfile", str(place / "signature")]
    ended = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert ("Signature Verified Successfully" in ended.stdout) is (ended.returncode == 0), ended.stderr
    return ended.returncode == 0


@pytest.mark.parametrize("name", ENVELOPES)
def test_openssl_finds_that_the_key_signed(signed: Signed, tmp_path: Path, name: str) -> None:
    assert openssl(tmp_path, signed.document(name), signed.public)


def _another_payload(document: dict[str, Any]) -> None:
    payload = base64.b64decode(document["payload"])
    document["payload"] = base64.b64encode(payload.replace(b"run-1", b"run-2") + b" ").decode()


def _another_type(document: dict[str, Any]) -> None:
    document["payloadType"] = "application/json"


def _another_signature(document: dict[str, Any]) -> None:
    raw = bytearray(base64.b64decode(document["signatures"][0]["sig"]))
    raw[0] ^= 1
    document["signatures"][0]["sig"] = base64.b64encode(bytes(raw)).decode()


@pytest.mark.parametrize("spoil", [_another_payload, _another_type, _another_signature])
@pytest.mark.parametrize("name", ENVELOPES)
def test_openssl_refuses_what_the_key_did_not_sign(
    signed: Signed, tmp_path: Path, name: str, spoil: Callable[[dict[str, Any]], None]
) -> None:
    document = signed.document(name)
    spoil(document)
    assert not openssl(tmp_path, document, signed.public)


def test_openssl_refuses_another_key(signed: Signed, tmp_path: Path) -> None:
    place = {"XDG_CONFIG_HOME": str(tmp_path / "theirs")}
    key.new("eve", public=signed.public.parent / "eve.pub", environment=place)
    assert not openssl(tmp_path, signed.document(ENVELOPES[0]), signed.public.parent / "eve.pub")


def test_the_key_is_called_by_what_openssl_makes_of_it(signed: Signed) -> None:
    words = ["openssl", "pkey", "-pubin", "-in", str(signed.public), "-outform", "DER"]
    der = subprocess.run(words, capture_output=True, check=True).stdout
    ended = subprocess.run(["openssl", "dgst", "-sha256", "-hex"], input=der, capture_output=True, check=True)
    called = signed.document(ENVELOPES[0])["signatures"][0]["keyid"]
    assert ended.stdout.decode().split()[-1] == called == key.read_public(signed.public).id


def in_toto(payload: bytes) -> Statement:
    """Return the statement as in-toto's own library reads and validates it."""
    found = Statement.copy_from_pb(Parse(payload, statement_pb2.Statement()))
    found.validate()
    return found


@pytest.mark.parametrize("name", ENVELOPES)
def test_in_toto_reads_the_statement(signed: Signed, name: str) -> None:
    document = signed.document(name)
    assert document["payloadType"] == "application/vnd.in-toto+json"
    found = in_toto(base64.b64decode(document["payload"])).pb
    (subject,) = found.subject
    digest = subprocess.run(["sha256sum", signed.folder / subject.name], capture_output=True, text=True, check=True)
    assert subject.digest == {"sha256": digest.stdout.split()[0]}
    assert found.predicate_type == {ENVELOPES[0]: statement.MANIFEST, ENVELOPES[1]: statement.HEAD}[name]
    assert found.predicate["format"] == 1


def test_in_toto_finds_the_files_that_the_run_wrote(tmp_path: Path) -> None:
    """One that was digested in samples is none of the subjects, and one may be called like the manifest."""
    rows = (
        ("out/model.safetensors", f"sha256:{'a' * 64}"),
        ("manifest.json", f"sha256:{'b' * 64}"),
        ("big", "samples:cc" * 8),
    )
    table = Table(("path", "digest", "bytes", "step"), tuple((path, digest, 1, 2) for path, digest in rows))
    sealed(tmp_path, fact("artifact.files", table, ranks=()))
    raw = (tmp_path / "manifest.json").read_bytes()
    payload = statement.of_manifest(raw)
    own, *written = in_toto(payload).pb.subject
    assert own.name == "manifest.json" and own.digest["sha256"] not in ("a" * 64, "b" * 64)
    assert [(one.name, one.digest["sha256"]) for one in written] == [
        ("out/model.safetensors", "a" * 64),
        ("manifest.json", "b" * 64),
    ]
    statement.check_manifest(payload, raw)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"https://in-toto.io/Statement/v1", b"https://in-toto.io/Statement/v9"),
        (b'"sha256":', b'"sha256":1,"x":'),
        (b'"predicateType":"urn:affidavit:manifest:1"', b'"predicateType":""'),
        (b'"subject":[', b'"subject":[{"name":"x"},'),
        (b'"predicate":{', b'"predicates":{'),
    ],
)
def test_in_toto_refuses_what_is_no_statement(signed: Signed, old: bytes, new: bytes) -> None:
    payload = base64.b64decode(signed.document(ENVELOPES[0])["payload"])
    assert old in payload
    with pytest.raises((ValueError, ParseError)):
        in_toto(payload.replace(old, new, 1))


ALONE = """
import json, sys
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

envelope = Envelope.from_dict(json.load(open(sys.argv[1])))
(keyid,) = envelope.signatures
key = SSlibKey.from_crypto(load_pem_public_key(open(sys.argv[2], "rb").read()), keyid=keyid)
try:
    held = envelope.verify([key], 1)
except VerificationError:
    sys.exit("refused")
assert not [name for name in sys.modules if name.partition(".")[0] == "affidavit"]
print(json.loads(envelope.payload)["_type"], *held)
"""


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_dsse_library_that_has_never_heard_of_us_verifies_it(signed: Signed, tmp_path: Path, name: str) -> None:
    """With the public key in PEM alone, in a process that imports nothing of ours."""

    def verified(path: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ALONE, str(path), str(signed.public)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    ended = verified(signed.folder / name)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["https://in-toto.io/Statement/v1", key.read_public(signed.public).id]
    document = signed.document(name)
    _another_payload(document)
    (tmp_path / "spoilt.json").write_text(json.dumps(document))
    assert verified(tmp_path / "spoilt.json").stderr == "refused\n"
