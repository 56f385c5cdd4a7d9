"""``affidavit key``: the pair of keys with which a person signs what is sealed."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.parameter import Function, example, json_option
from affidavit.cli.project import here
from affidavit.record import key as keys
from affidavit.report.terminal import Span, Tone, line

_INDENT = len("private  ")


def name_option(function: Function) -> Function:
    said = "What the key is called; a project may trust several."
    return click.option("--name", default=keys.DEFAULT, show_default=True, help=said)(function)


@click.group(short_help="Make a key that signs what is sealed.", epilog=example("affidavit key new --name ada"))
def command() -> None:
    """Make a key that signs what is sealed, or show its public half.

    A signature shows who sealed a run, and that nobody without the key wrote it anew. The private key stays with you,
    outside of every repository; the public one is a file that the project commits.
    """


@command.command(short_help="Make a pair of keys.", epilog=example("affidavit key new --name ada"))
@name_option
@json_option
def new(name: str, as_json: bool) -> int:
    """Make a pair of Ed25519 keys: the private one for you alone, the public one to commit. Nothing is overwritten.

    Set AFFIDAVIT_KEY_PASSWORD to encrypt the private key; whoever seals needs it then. In CI, AFFIDAVIT_KEY names the
    private key's file and stands above affidavit.toml.
    """
    root = here().root
    public = root / f"{name}.pub"
    private, made = keys.new(name, public=public)
    if as_json:
        page.say({"name": name, "id": made.id, "private": str(private), "public": str(public)})
        return 0
    page.show(
        [
            line(Span(f"key {name}", Tone.STRONG), f"  {made.id[: keys.SHORT]}"),
            line(str(private), Span("  yours alone", Tone.FAINT), head="private", indent=_INDENT),
            line(public.name, Span("  commit it", Tone.FAINT), head="public", indent=_INDENT),
            line("in affidavit.toml:"),
            line(Span("[seal]", Tone.ACTION), indent=2),
            line(Span(f'key = "{name}"', Tone.ACTION), indent=2),
            line(Span(f'trusted = ["{public.name}"]', Tone.ACTION), indent=2),
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
        page.say({"name": name, "id": public.id, "private": str(path), "pem": keys.pem(public).decode()})
    else:
        click.echo(keys.pem(public).decode(), nl=False)
    return 0
