"""``affidavit verify``: what holds of a sealed run, read raw."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here
from affidavit.record import trust
from affidavit.record.standing import Examined, Standing
from affidavit.record.verification import SIGNATURE, Verified
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.attesting import WITNESS
from affidavit.run.tracker.tag import WHAT as TAG

_MARKS = {
    Standing.HOLDS: Span("✓", Tone.GOOD),
    Standing.NONE: Span("·", Tone.FAINT),
    Standing.UNCHECKED: Span("?", Tone.DOUBT),
    Standing.BROKEN: Span("✗", Tone.BAD),
}
_CODES = {Standing.HOLDS: 0, Standing.BROKEN: 1, Standing.UNCHECKED: 4}
_ABOUT = len("trusted key  ")


@click.command(
    short_help="Check a sealed run's bytes, signature and witness.",
    epilog=example("affidavit verify last --key ada.pub"),
)
@run_argument
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="A public key to trust here, a file or ed25519:…, beside those of affidavit.toml; repeat it.",
)
@json_option
def command(run: str, keys: tuple[str, ...], as_json: bool) -> int:
    """Check every byte of a sealed run against what vouches for it: head, corrections, evidence, signature, witness.

    RUN may be the path of a folder that somebody sent. Exit code 1 where something contradicts, 4 where something
    could not be checked: evidence that is gone, a signature that is expected and missing.

    An unsigned seal shows accidental edits. Who holds the folder can write all of it anew; a signature shows that, and
    "witness" or "tracker" under [seal] also that an older state was put back, or all of it signed anew. Who may
    write the witness, too, is not seen.
    """
    project = here()
    found = project.notary.trusting(*(trust.named(key, Path.cwd()) for key in keys)).verify(project.find(run).folder)
    if as_json:
        checked = [{"what": one.what, "standing": one.standing.value, "said": one.said} for one in found.examined]
        page.say({"run": found.run, "standing": found.worst.value, "checked": checked, "summary": summary(found)})
    else:
        page.show(_lines(found))
    return _CODES[found.worst]


def summary(found: Verified) -> str:
    """Return the last line: what the whole of it shows, and what it cannot."""
    if found.worst is Standing.BROKEN:
        return "This is not what was sealed, or not by whom this project trusts."
    if found.worst is Standing.UNCHECKED:
        return "What could be checked holds; not all of it could."
    signed, witnessed = _holds(found, SIGNATURE), _holds(found, WITNESS) or _holds(found, TAG)
    if signed and witnessed:
        return "All of it holds."
    if signed:
        return "All of it holds; no outside witness: an older state that was put back whole would not show."
    if witnessed:
        return "All of it holds; unsigned: the witness says what was sealed, and not by whom."
    return (
        "All of it holds; unsigned: shows accidental edits only. No outside witness: a chain alone does not show a "
        "rewrite by somebody who holds the folder."
    )


def _holds(found: Verified, what: str) -> bool:
    return any(one.what == what and one.standing is Standing.HOLDS for one in found.examined)


def _lines(found: Verified) -> Iterator[Line]:
    yield line(Span(found.run, Tone.STRONG))
    for one in found.examined:
        yield _line(one)
    tones = {Standing.BROKEN: Tone.BAD, Standing.UNCHECKED: Tone.DOUBT}
    yield line(Span(summary(found), tones.get(found.worst, Tone.PLAIN)))


def _line(one: Examined) -> Line:
    mark = _MARKS[one.standing]
    said = Span(one.said, Tone.FAINT) if one.standing is Standing.NONE else one.said
    return line(said, head=Span(f"{mark.text} {one.what:<{_ABOUT}}", mark.tone), indent=_ABOUT + 2)
