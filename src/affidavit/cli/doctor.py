"""``affidavit doctor``: what will attach in this environment, what cannot, and where files go."""

from __future__ import annotations

from collections.abc import Iterator

import click

from affidavit import __version__
from affidavit.cli import page
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import here
from affidavit.cli.symptom import Sight, Symptom, symptoms
from affidavit.report.terminal import Line, Span, Tone, line

_MARKS = {
    Sight.CLEAR: Span("✓", Tone.GOOD),
    Sight.LESS: Span("!", Tone.DOUBT),
    Sight.NONE: Span("✗", Tone.BAD),
}
_ABOUT = len("run folders  ")


@click.command(
    short_help="Say what will attach here, and what cannot.",
    epilog=example("affidavit doctor --python .venv/bin/python"),
)
@click.option("--python", default="python", metavar="PATH", help="The Python that trains; by default the one on PATH.")
@json_option
def command(python: str, as_json: bool) -> int:
    """Say what will attach in THIS environment, what cannot, and where files go.

    The interpreter is started once, as a run would start it. No framework is imported. Exit code 4 where nothing of a
    run would be seen, or held against what was accepted.
    """
    found = tuple(symptoms(python, project=here()))
    if as_json:
        entries = [{"about": one.about, "sight": one.sight.value, "said": one.said} for one in found]
        page.say({"environment": entries})
    else:
        page.show(_lines(found))
    return 4 if any(one.sight is Sight.NONE for one in found) else 0


def _lines(found: tuple[Symptom, ...]) -> Iterator[Line]:
    yield line(Span(f"affidavit {__version__}", Tone.STRONG))
    for one in found:
        mark = _MARKS[one.sight]
        yield line(one.said, head=Span(f"{mark.text} {one.about:<{_ABOUT}}", mark.tone), indent=_ABOUT + 3)
