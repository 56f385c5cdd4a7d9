"""Whatever lies under the names of a seal is refused in words: no crash, no wait, and nothing that passes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.run.notarised import World, replace, world, write

from affidavit.record import envelope, key, seal
from affidavit.record.standing import Standing

FILES = ("manifest.json", "head.json", "annotations.jsonl", "manifest.dsse.json", "head.dsse.json")
LONGEST_SECONDS = 20
"""Nothing here takes one; a reader that waits for a pipe takes for ever."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> World:
    return world(tmp_path_factory.mktemp("hostile") / "project", signed=True)


@pytest.fixture
def signed(whole: World) -> World:
    """The same run folder for each test, whole again."""
    shutil.rmtree(whole.folder)
    shutil.copytree(whole.stages[-1], whole.folder)
    return whole


def broken(there: World) -> str:
    """Return what was seen of everything that contradicts; something does, and it was told without delay."""
    started = time.monotonic()
    found = there.notary.verify(there.folder)
    assert time.monotonic() - started < LONGEST_SECONDS
    assert found.worst is Standing.BROKEN, found.examined
    return "; ".join(one.said for one in found.examined if one.standing is Standing.BROKEN)


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a doubled key": (lambda raw: b'{"format":1,' + raw[1:], "stands twice|no annotation"),
    "NaN": (lambda raw: raw.replace(b":1", b":NaN", 1), "no number in JSON"),
    "2^53+1": (lambda raw: raw.replace(b":1", b":9007199254740993", 1), "9007199254740993"),
    "a huge number": (lambda raw: raw.replace(b":1", b":1" + b"0" * 5000, 1), "beyond every double"),
    "a long exponent": (lambda raw: raw.replace(b":1", b":1e999999", 1), "beyond every double"),
    "trailing bytes": (lambda raw: raw.rstrip(b"\n") + b"{}", "Extra data"),
    "a byte order mark": (lambda raw: b"\xef\xbb\xbf" + raw, "BOM"),
    "deep nesting": (lambda raw: b"[" * 100_000 + b"]" * 100_000, "recursion|nested|RecursionError"),
    "nested as deep as Python reads": (lambda raw: b"[" * 900 + b"]" * 900, "nested beyond reading"),
    "a lone surrogate": (lambda raw: raw.replace(b'"', b'"\\ud800', 1), "surrogate|ASCII"),
    "another encoding": (lambda raw: raw.decode().encode("utf-16"), "UnicodeDecodeError"),
    "a space": (lambda raw: raw.replace(b":", b": ", 1), "not written as we write it|format 1"),
    "a number in other words": (lambda raw: raw.replace(b":1", b":1.0", 1), "not written as we write it|format 1|1.0"),
    "an unknown field": (lambda raw: raw[:1] + b'"zzz":1,' + raw[1:], "zzz|unknown field|no annotation|format 1"),
    "nothing": (lambda raw: b"", "Expecting value|torn|cut short"),
    "null": (lambda raw: b"null", "None|null|Expected"),
    "zeros": (lambda raw: b"\0" * 4096, "Expecting value"),
}


@pytest.mark.parametrize("name", ["manifest.json", "head.json", "annotations.jsonl"])
@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_bytes_are_told_as_what_they_are(signed: World, name: str, attack: str) -> None:
    spoil, why = HOSTILE[attack]
    path = signed.folder / name
    before = path.read_bytes()
    replace(path, spoil(before))
    assert path.read_bytes() != before, "nothing was spoilt"
    said = broken(signed)
    also = "is no annotation|torn|cut short" if name == "annotations.jsonl" else "bytes, 4,096 allowed"
    assert any(part.lower() in said.lower() for part in f"{why}|{also}".split("|")), said


def _envelope(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def spoil(raw: bytes) -> bytes:
        document = json.loads(raw)
        changed = change(document)
        return json.dumps(document if changed is None else changed, separators=(",", ":"), sort_keys=True).encode()

    return spoil


def _payload(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def spoil(document: dict[str, Any]) -> None:
        document["payload"] = base64.b64encode(change(base64.b64decode(document["payload"]))).decode()

    return _envelope(spoil)


ENVELOPES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "no signature": (_envelope(lambda found: found.update(signatures=[])), "0 signatures"),
    "two signatures": (_envelope(lambda found: found.update(signatures=found["signatures"] * 2)), "2 signatures"),
    "no payload": (_envelope(lambda found: found.pop("payload") and None), "payload"),
    "another payload type": (_envelope(lambda found: found.update(payloadType="text/plain")), "text/plain"),
    "no type": (_envelope(lambda found: found.update(payloadType=None)), "payloadType"),
    "a further field": (_envelope(lambda found: found.update(note="trust me")), "unknown field"),
    "base64 with a line end": (_envelope(lambda found: found.update(payload=found["payload"] + "\n")), "base64"),
    "base64 without its end": (
        _envelope(lambda found: found.update(payload="A" + found["payload"][:-1])),
        "base64|as we write|payload",
    ),
    "base64 for addresses": (
        _envelope(lambda found: found["signatures"][0].update(sig="-_" + found["signatures"][0]["sig"][2:])),
        "base64",
    ),
    "base64 that is not unique": (
        _envelope(lambda found: found["signatures"][0].update(sig=found["signatures"][0]["sig"][:-3] + "9==")),
        "as we write it|not made by",
    ),
    "a short signature": (_envelope(lambda found: found["signatures"][0].update(sig="AAAA")), "not made by"),
    "no key": (_envelope(lambda found: found["signatures"][0].update(keyid="")), "does not name"),
    "a key that steers a terminal": (
        _envelope(lambda found: found["signatures"][0].update(keyid="\x1b[2J")),
        "does not name",
    ),
    "a list": (_envelope(lambda found: [found]), "Expected `object`"),
    "a statement of another type": (
        _payload(lambda raw: raw.replace(b"in-toto.io/Statement/v1", b"in-toto.io/Statement/v0")),
        "Statement/v0",
    ),
    "a predicate of another type": (
        _payload(lambda raw: raw.replace(b"urn:affidavit:", b"urn:affidavot:")),
        "urn:affidavot",
    ),
    "no subject": (
        _payload(lambda raw: raw.partition(b'"subject":')[0] + b'"subject":[]}'),
        "speaks of nothing",
    ),
    "a payload that is none": (_payload(lambda raw: b"%PDF-1.4"), "no statement"),
    "a payload with a space": (_payload(lambda raw: raw.replace(b":", b": ", 1)), "as we write it"),
    "a payload that is nested": (_payload(lambda raw: b"[" * 5000 + b"]" * 5000), "no statement"),
}


@pytest.mark.parametrize("name", ["manifest.dsse.json", "head.dsse.json"])
@pytest.mark.parametrize("attack", {**HOSTILE, **ENVELOPES})
def test_a_hostile_envelope_is_told_as_what_it_is(signed: World, name: str, attack: str) -> None:
    spoil, why = {**HOSTILE, **ENVELOPES}[attack]
    path = signed.folder / name
    before = path.read_bytes()
    spoilt = spoil(before)
    if spoilt == before:
        spoilt = spoil(before.replace(b'"payload"', b'"payload":1,"payload"', 1))  # it holds no number to spoil
    replace(path, spoilt)
    said = broken(signed)
    assert attack in HOSTILE or any(part.lower() in said.lower() for part in why.split("|")), said
    assert said.isprintable(), said


def test_an_envelope_of_another_run_does_not_vouch_for_this_one(signed: World, tmp_path: Path) -> None:
    """It is whole, and made by a key that is trusted."""
    other = tmp_path / "run-2"
    other.mkdir()
    write(other, run="run-2")
    assert signed.notary.sealed(other) == ()
    for name in ("manifest.dsse.json", "head.dsse.json"):
        replace(signed.folder / name, (other / name).read_bytes())
    assert "manifest.dsse.json: it speaks of manifest.json with" in broken(signed)


def test_a_signature_over_the_bare_payload_is_none(signed: World) -> None:
    """The type and the lengths are signed with the payload, so that no other document can be taken for it."""
    path = signed.folder / "manifest.dsse.json"
    document = json.loads(path.read_bytes())
    place = key.locate("ours", signed.root, signed.notary.environment)
    assert place is not None
    secret = key.read_private(place, signed.notary.environment).secret.key
    bare = secret.sign(base64.b64decode(document["payload"]))
    document["signatures"][0]["sig"] = base64.b64encode(bare).decode()
    replace(path, json.dumps(document, separators=(",", ":"), sort_keys=True).encode())
    assert "not made by ours.pub" in broken(signed)


def test_a_predicate_that_tells_of_another_manifest_is_refused_though_we_signed_it(signed: World) -> None:
    """Its subject is this manifest, so that whoever compares the digest alone would believe the rest."""
    path = signed.folder / "manifest.dsse.json"
    payload = base64.b64decode(json.loads(path.read_bytes())["payload"])
    place = key.locate("ours", signed.root, signed.notary.environment)
    assert place is not None and b'["flash",4]' in payload
    told = payload.replace(b'["flash",4]', b'["maths",4]')
    replace(path, envelope.sign(told, key.read_private(place, signed.notary.environment)))
    assert "its predicate is not the manifest that lies here" in broken(signed)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _huge(path: Path) -> None:
    path.chmod(0o644)
    os.truncate(path, 1 << 30)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


NO_FILES = {"a link": _link, "a pipe": _pipe, "a gibibyte": _huge, "a folder": _folder, "a loop": _loop}


@pytest.mark.parametrize("name", [*FILES, "evidence", "tokens"])
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_plain_file_of_a_bearable_size_is_not_read(signed: World, name: str, kind: str) -> None:
    path = signed.folder / name
    NO_FILES[kind](next(path.iterdir()) if path.is_dir() else path)
    assert broken(signed)


@pytest.mark.parametrize("name", ["evidence", "tokens"])
def test_a_folder_that_is_a_link_is_not_entered(signed: World, tmp_path: Path, name: str) -> None:
    """The files behind it are the right ones, today."""
    (signed.folder / name).rename(tmp_path / name)
    (signed.folder / name).symlink_to(tmp_path / name)
    assert broken(signed) == "no plain folder"


@pytest.mark.parametrize("place", ["sealed", "sealed/0"])
def test_earlier_seals_behind_a_link_are_not_read(signed: World, tmp_path: Path, place: str) -> None:
    (tmp_path / "0").mkdir()
    path = signed.folder / place
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path if place == "sealed" else tmp_path / "0")
    assert "is a symbolic link" in broken(signed)
    assert not [one for one in signed.notary.verify(signed.folder).examined if one.what.startswith("attempt")]


def test_a_file_where_earlier_seals_would_lie_is_told(signed: World) -> None:
    (signed.folder / "sealed").write_text("nothing")
    assert broken(signed) == "'sealed' is no folder"


def test_an_earlier_seal_is_the_one_that_the_later_names(tmp_path: Path) -> None:
    """It was written anew, and agrees with itself: nobody signs here, and nobody remembers."""
    there = world(tmp_path / "project")
    kept = there.folder / "sealed" / "0"
    kept.mkdir(parents=True)
    write(kept, "the first attempt")
    write(there.folder, f"attempt 0 was sealed as {seal.read_sealed(kept).digest}")
    assert there.said("attempt 0")[0] is there.standing() is Standing.HOLDS
    write(kept, "another first attempt")
    assert "and the later seal says sha256:" in broken(there)
    write(there.folder, f"a correction (of it:\nattempt 0 was sealed as {seal.read_sealed(kept).digest}\n)")
    assert "and the later seal says nothing of it" in broken(there), "the words of whoever corrects are not ours"
    write(there.folder, "no word of an earlier one")
    assert "and the later seal says nothing of it" in broken(there)


def test_a_head_that_counts_below_zero_or_in_words_is_none(signed: World) -> None:
    raw = (signed.folder / "head.json").read_bytes()
    for count in (b"-1", b"-3", b"true", b"1e2", b"99999999"):
        replace(signed.folder / "head.json", raw.replace(b'"count":2', b'"count":' + count))
        assert broken(signed)


@settings(
    max_examples=250, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.binary(max_size=3), st.integers(0, 3))
def test_no_byte_of_a_signed_seal_can_be_changed(signed: World, name: str, at: float, put: bytes, cut: int) -> None:
    """Some bytes are written, inserted or taken at any place of any file: something is said, and nothing is raised."""
    original = signed.stages[-1] / name
    raw = original.read_bytes()
    place = int(at * len(raw))
    spoilt = raw[:place] + put + raw[place + cut :]
    replace(signed.folder / name, spoilt)
    try:
        assert (signed.standing() is Standing.HOLDS) is (spoilt == raw)
    finally:
        replace(signed.folder / name, raw)
