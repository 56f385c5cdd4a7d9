"""``affidavit key``: the pair of keys with which a person signs what is sealed."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import Function, example, json_option
from affidavit.cli.project import here
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import file, rotation
from affidavit.record import key as keys
from affidavit.record.trust import Retired
from affidavit.report.terminal import Line, Span, Tone, line

_INDENT = len("private  ")


def name_option(function: Function) -> Function:
    said = "What the key is called; a project may trust several."
    return click.option("--name", default=keys.DEFAULT, show_default=True, help=said)(function)


@click.group(short_help="Make a key that signs what is sealed.", epilog=example("affidavit key new --name ada"))
def command() -> None:
    """Make a key that signs what is sealed, or show its public half.

    A signature shows who sealed a run, and that nobody without the key wrote it anew. The private key stays with you,
    outside of every repository; the public one is a line of affidavit.toml, or a file, that the project commits.
    """


@command.command(short_help="Make a pair of keys.", epilog=example("affidavit key new --name ada"))
@name_option
@json_option
def new(name: str, as_json: bool) -> int:
    """Make a pair of Ed25519 keys: the private one for you alone, the public one to commit. Nothing is overwritten.

    The private key is encrypted with the password that is asked for, or that AFFIDAVIT_KEY_PASSWORD holds; whoever
    seals sets that variable. In CI, AFFIDAVIT_KEY names the private key's file and stands above affidavit.toml.
    """
    root = here().root
    public = root / f"{name}.pub"
    password = _password()
    private, made = keys.new(name, public=public, password=password)
    if as_json:
        page.say(
            {
                "name": name,
                "id": made.id,
                "private": str(private),
                "public": str(public),
                "trusted": keys.line(made, name),
                "encrypted": bool(password),
            }
        )
        return 0
    page.show(_made(name, made, private, is_encrypted=bool(password)))
    page.show([line("in affidavit.toml:")])
    for text in ("[seal]", f'key = "{name}"', f'trusted = ["{keys.line(made, name)}"]'):
        click.echo(f"  {text}")  # to be pasted, so that no line may be folded
    return 0


@command.command(
    short_help="Let a new key take the place of yours.", epilog=example("affidavit key rotate --name ada --to ada-2")
)
@name_option
@click.option("--to", "to", default="", help="What the new key is called; by default the same with the next number.")
@json_option
def rotate(name: str, to: str, as_json: bool) -> int:
    """Make a new key, signed by your old one, that takes its place from now on.

    What the old key sealed stays valid; what it seals after today does not. "trusted" in affidavit.toml stays as it is:
    the signed word lies beside the old public key.
    """
    project = here()
    root = project.root
    following = to or _following(name)
    old = _opened(keys.folder() / f"{name}.pem")
    trusted, public = root / f"{name}.pub", root / f"{following}.pub"
    word = root / f"{following}{rotation.SUFFIX}"
    believed = project.notary.trust()
    named = {one.id for one in believed.keys} | ({keys.read_public(trusted).id} if trusted.is_file() else set())
    if old.public.id not in named:
        raise AffidavitError(_no_public(name, trusted))
    if gone := believed.gone(old.public.id):
        raise AffidavitError(_gone(name, gone))
    if os.path.lexists(word):
        raise AffidavitError(_taken(name, word))
    password = _password()
    private, made = keys.new(following, public=public, password=password)
    now = datetime.datetime.now(datetime.UTC)
    file.place_once(word, rotation.endorse(old, made, name=public.name, time=now))
    if as_json:
        said = {"name": following, "id": made.id, "private": str(private), "public": str(public)}
        page.say({**said, "encrypted": bool(password), "old": old.public.id, "rotation": str(word)})
        return 0
    page.show(_made(following, made, private, is_encrypted=bool(password)))
    page.show(
        [
            line(
                word.name, Span("  commit it: the old key signed the new one in it", Tone.FAINT), head="word", indent=9
            ),
            line("in affidavit.toml:"),
            line(Span("[seal]", Tone.ACTION), indent=2),
            line(Span(f'key = "{following}"', Tone.ACTION), Span("  trusted stays as it is", Tone.FAINT), indent=2),
        ]
    )
    return 0


@command.command(short_help="Print a public key.", epilog=example("affidavit key show --name ada > ada.pub"))
@name_option
@json_option
def show(name: str, as_json: bool) -> int:
    """Print the public half of a key of yours, to use it in another project."""
    path = keys.folder() / f"{name}.pem"
    public = keys.read_private(path).public
    if as_json:
        said = {"name": name, "id": public.id, "private": str(path), "pem": keys.pem(public).decode()}
        page.say({**said, "trusted": keys.line(public, name)})
    else:
        click.echo(keys.pem(public).decode(), nl=False)
    return 0


def _made(name: str, made: keys.PublicKey, private: Path, *, is_encrypted: bool) -> Iterator[Line]:
    yield line(Span(f"key {name}", Tone.STRONG), f"  {made.id[: keys.SHORT]}")
    yield line(str(private), Span("  yours alone", Tone.FAINT), head="private", indent=_INDENT)
    if is_encrypted:
        yield line(Span(f"encrypted; {keys.PASSWORD} opens it", Tone.FAINT), indent=_INDENT)
    else:
        said = f"NOT encrypted: whoever reads the file signs as you. Set {keys.PASSWORD} and make another."
        yield line(Span(said, Tone.DOUBT), indent=_INDENT)
    yield line(f"{name}.pub", Span("  commit it", Tone.FAINT), head="public", indent=_INDENT)


def _password() -> str:
    """Return what encrypts a new key: what the variable holds, else what a person types; "" where nobody is there."""
    said = os.environ.get(keys.PASSWORD, "")
    if said or not sys.stdin.isatty():
        return said
    asked = "Password for the private key (empty: it is not encrypted)"
    typed: str = click.prompt(
        asked, default="", show_default=False, hide_input=True, confirmation_prompt=True, err=True
    )
    return typed


def _opened(path: Path) -> keys.PrivateKey:
    """Return a private key, asking a person for its password where the variable does not hold it."""
    try:
        return keys.read_private(path)
    except keys.KeyFileError:
        if not path.is_file() or not sys.stdin.isatty():
            raise
    typed = click.prompt(f"Password of {path.name}", hide_input=True, err=True)
    return keys.read_private(path, {**os.environ, keys.PASSWORD: typed})


def _following(name: str) -> str:
    stem, _, number = name.rpartition("-")
    return f"{stem}-{int(number) + 1}" if stem and number.isdecimal() else f"{name}-2"


def _no_public(name: str, public: Path) -> str:
    return refusal(
        subject=f"key {name}",
        expected=f"its public half in {public.name} or under [seal] trusted",
        saw=f"another key in {public.name}, and none there" if public.is_file() else "neither",
        means="A key that nobody trusted has no trust to pass on.",
        action=f'Run "affidavit key show --name {name} > {public.name}", or make a new key.',
        unaffected="every seal that was made",
    )


def _gone(name: str, gone: Retired) -> str:
    after = f'"affidavit key rotate --name {gone.to.removesuffix(".pub")}"'
    return refusal(
        subject=f"key {name}",
        expected="a key that still seals here",
        saw=f"one {gone.said}",
        means="A key gives way once: whoever finds it later would else choose who comes after it.",
        action='Run "affidavit key new", and trust that.' if gone.is_revoked else f"Run {after}.",
        unaffected="every seal that was made",
    )


def _taken(name: str, word: Path) -> str:
    return refusal(
        subject=f"key {name}",
        expected="no file where its word would be kept",
        saw=f"{word.name} is there",
        means="Nobody would read that the new key takes its place, so none was made.",
        action="Remove the file, or choose another name with --to.",
        unaffected="every seal that was made",
    )
