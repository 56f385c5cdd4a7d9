"""A pair of keys is made once, its private half for one person alone, and read back or refused in words."""

from __future__ import annotations

import base64
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from affidavit.record import envelope, key, trust
from affidavit.record.key import KeyFileError, SigningUnavailableError


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "project").mkdir()
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def public(tmp_path: Path) -> Path:
    return tmp_path / "project" / "ada.pub"


def test_the_private_half_is_for_its_user_alone(place: dict[str, str], public: Path) -> None:
    path, made = key.new("ada", public=public, environment=place)
    assert path == key.folder(place) / "ada.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert key.read_public(public).id == made.id == key.read_private(path, place).public.id
    assert b"PRIVATE" not in public.read_bytes() and stat.S_IMODE(public.stat().st_mode) == 0o644


def test_nothing_is_overwritten(place: dict[str, str], public: Path) -> None:
    path, _ = key.new("ada", public=public, environment=place)
    before = path.read_bytes(), public.read_bytes()
    with pytest.raises(KeyFileError, match="is there"):
        key.new("ada", public=public, environment=place)
    path.unlink()
    with pytest.raises(KeyFileError, match=r"ada\.pub is there"):
        key.new("ada", public=public, environment=place)
    assert not path.exists() and public.read_bytes() == before[1]


def test_a_private_key_inside_of_the_project_is_refused(tmp_path: Path, public: Path) -> None:
    public.parent.mkdir()
    with pytest.raises(KeyFileError, match="XDG_CONFIG_HOME"):
        key.new("ada", public=public, environment={"XDG_CONFIG_HOME": str(public.parent / "config")})
    assert list(public.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "../ada", "a/b", "-x", "a" * 65, "a\n"])
def test_a_name_that_is_none_is_refused(place: dict[str, str], public: Path, name: str) -> None:
    with pytest.raises(KeyFileError, match="a name of letters"):
        key.new(name, public=public, environment=place)


def test_a_passphrase_opens_what_it_closed(place: dict[str, str], public: Path) -> None:
    closed = {**place, key.PASSWORD: "open sesame"}
    path, made = key.new("ada", public=public, environment=closed)
    assert b"ENCRYPTED" in path.read_bytes()
    assert key.read_private(path, closed).public.id == made.id
    for wrong in (place, {**place, key.PASSWORD: "open barley"}):
        with pytest.raises(KeyFileError, match=key.PASSWORD) as caught:
            key.read_private(path, wrong)
        assert "barley" not in str(caught.value)


def test_a_passphrase_for_another_key_harms_none_that_is_open(place: dict[str, str], public: Path) -> None:
    path, made = key.new("ada", public=public, environment=place)
    assert key.read_private(path, {**place, key.PASSWORD: "x"}).public.id == made.id


def test_a_key_shows_its_secret_to_nobody(place: dict[str, str], public: Path) -> None:
    path, _ = key.new("ada", public=public, environment=place)
    secret = key.read_private(path, place)
    assert secret.secret.key.private_bytes_raw().hex() not in repr(secret)
    assert "Ed25519PrivateKey" not in repr(secret)


def test_who_signs_is_found_by_name_path_or_variable(tmp_path: Path) -> None:
    place = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/home/somebody"}
    assert key.locate("", tmp_path, place) is None
    assert key.locate("ada", tmp_path, place) == tmp_path / "affidavit" / "keys" / "ada.pem"
    assert key.locate("keys/ada.pem", tmp_path, place) == tmp_path / "keys" / "ada.pem"
    assert key.locate("ada", tmp_path, {**place, key.VARIABLE: "/run/secret"}) == Path("/run/secret")
    assert key.locate("", tmp_path, {key.VARIABLE: "/run/secret"}) == Path("/run/secret")
    assert key.folder({"HOME": "/home/somebody"}) == Path("/home/somebody/.config/affidavit/keys")
    assert key.folder({"HOME": "/home/somebody", "XDG_CONFIG_HOME": "here"}).is_absolute()


def _openssl(path: Path, *words: str) -> Path:
    subprocess.run(["openssl", *words, "-out", str(path)], check=True, capture_output=True)
    return path


def test_a_key_that_openssl_made_signs_and_verifies(tmp_path: Path) -> None:
    path = _openssl(tmp_path / "key.pem", "genpkey", "-algorithm", "ed25519")
    public = _openssl(tmp_path / "key.pub", "pkey", "-pubout", "-in", str(path))
    signed = tmp_path / "envelope"
    signed.write_bytes(envelope.sign(b"{}", key.read_private(path, {})))
    assert envelope.holds(envelope.read(signed), key.read_public(public))


def test_a_mounted_secret_that_is_a_link_is_read(place: dict[str, str], public: Path, tmp_path: Path) -> None:
    path, made = key.new("ada", public=public, environment=place)
    (tmp_path / "secret").symlink_to(path)
    assert key.read_private(tmp_path / "secret", place).public.id == made.id


def test_what_is_no_key_of_ours_is_refused_in_words(place: dict[str, str], public: Path, tmp_path: Path) -> None:
    path, _ = key.new("ada", public=public, environment=place)
    rsa = _openssl(tmp_path / "rsa.pem", "genpkey", "-algorithm", "rsa")
    curve = _openssl(tmp_path / "x.pem", "genpkey", "-algorithm", "x25519")
    (tmp_path / "garbage").write_bytes(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    (tmp_path / "huge").write_bytes(b"x" * (1 << 20))
    for read, there, why in (
        (key.read_private, rsa, "RSAPrivateKey"),
        (key.read_private, curve, "X25519PrivateKey"),
        (key.read_private, public, "Ed25519 private key"),
        (key.read_private, tmp_path / "nothing", "No such file"),
        (key.read_private, tmp_path, "no plain file"),
        (key.read_public, path, "a private one"),
        (key.read_public, tmp_path / "garbage", "Ed25519 public key"),
        (key.read_public, tmp_path / "huge", "16,384 allowed"),
    ):
        with pytest.raises(KeyFileError, match=why) as caught:
            read(there)  # type: ignore[operator]
        assert "Not affected: " in str(caught.value)


def test_one_key_that_cannot_be_read_does_not_hide_the_others(place: dict[str, str], public: Path) -> None:
    _, made = key.new("ada", public=public, environment=place)
    found = trust.believed((public, public.with_name("eve.pub")))
    assert [one.id for one in found.keys] == [made.id] and found.expects
    assert len(found.problems) == 1 and "eve.pub" in found.problems[0]
    assert not trust.believed(()).expects and trust.believed((), expects=True).expects


def test_a_public_key_fits_in_one_line_and_is_the_same_key(place: dict[str, str], public: Path) -> None:
    _, made = key.new("ada", public=public, environment=place)
    found = key.parse_public(key.line(made, "ada"))
    assert (found.id, found.raw, found.name) == (made.id, made.raw, "ada")
    assert key.parse_public(key.line(made, "").strip()).name == f"ed25519:{key.line(made, '')[8:20]}…"
    assert trust.named("ada.pub", public.parent) == public.parent / "ada.pub"


ZEROS = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize(
    "line",
    [
        "ed25519:",
        "ed25519:AAAA",
        f"ed25519:{ZEROS[:-1]}",
        f"ed25519:{ZEROS[:-2]}B=",  # the same bytes, spelt with bits that are thrown away
        f"ed25519: {ZEROS}",
        f"ed25519:{ZEROS}\n",
        f"ed25519:{base64.b64encode(bytes(33)).decode()}",
        f"ED25519:{ZEROS}",
        f"ed25519:\u0410{ZEROS[1:]}",
    ],
)
def test_a_line_that_is_no_key_is_refused_in_words(line: str) -> None:
    with pytest.raises(KeyFileError, match="expected ed25519: and 32 bytes in base64, saw '") as caught:
        key.parse_public(line)
    assert str(caught.value).isprintable() or "\n" in str(caught.value)


def test_without_the_extra_everything_says_how_to_get_it(
    place: dict[str, str], public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = key.new("ada", public=public, environment=place)
    secret = key.read_private(path, place)
    for name in [*sys.modules, "cryptography", "securesystemslib"]:
        if name.partition(".")[0] in ("cryptography", "securesystemslib"):
            monkeypatch.setitem(sys.modules, name, None)
    found = envelope.Envelope(payload=b"{}", key=made.id, signature=b"")
    for ask in (
        lambda: key.new("eve", public=public.with_name("eve.pub"), environment=place),
        lambda: key.read_private(path, place),
        lambda: key.read_public(public),
        lambda: key.pem(made),
        lambda: envelope.sign(b"{}", secret),
        lambda: envelope.holds(found, made),
    ):
        with pytest.raises(SigningUnavailableError, match="affidavit\\[sign\\]") as caught:
            ask()
        assert str(caught.value).startswith("signatures: expected cryptography and securesystemslib, saw no ")
    assert not (key.folder(place) / "eve.pem").exists()
