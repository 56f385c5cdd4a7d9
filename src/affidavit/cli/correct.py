"""``affidavit correct``: a dated banner in a document, with what falls and what survives, bound to a correction."""

from __future__ import annotations

import datetime
import difflib
import os
from pathlib import Path

import click

from affidavit.claims import banner
from affidavit.cli import page
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here, today
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.observe.person import author_of
from affidavit.record import file
from affidavit.record.annotation import Annotation, Correction, Extent
from affidavit.report.terminal import Span, Tone, line
from affidavit.run import annotating

_EXAMPLE = (
    "affidavit correct docs/sizing.md --section 6 --falls 'the kernel table' --survives section:4 --why 'another seat'"
)

_HELP = 'Run "affidavit correct --help".'
_ANNOTATE = 'Run "affidavit annotate", which keeps the correction and writes no banner.'
_BY_NAME = "Name it by the word in brackets."
_LISTED = 8


class CorrectError(AffidavitError):
    """There is no document, or no section of it, that a banner could stand in."""


@click.command(short_help="Put a dated correction at the head of a section.", epilog=example(_EXAMPLE))
@click.argument("document", type=click.Path(path_type=Path), metavar="DOC")
@click.option("--section", required=True, help="The number of its heading, the heading's words, or its #anchor.")
@click.option("--falls", multiple=True, required=True, metavar="WHAT", help="What no longer holds; repeat it.")
@click.option("--survives", multiple=True, metavar="WHAT", help="What you looked at and found to stand; repeat it.")
@click.option("--reviewed-nothing-else", "nothing_else", is_flag=True, help="Say so where nothing is named to survive.")
@click.option("--why", required=True, help="Why.")
@click.option("--author", default="", help="Who says so; by default git's user.name, else the login name.")
@json_option
def command(
    document: Path,
    section: str,
    falls: tuple[str, ...],
    survives: tuple[str, ...],
    nothing_else: bool,
    why: str,
    author: str,
    as_json: bool,
) -> int:
    """Put a dated correction at the head of a section: what falls, what survives, and why. Nothing else is changed.

    The document is what somebody reads before a run, so the correction stands where they read. It is also appended to
    the chain of the document, as by "annotate". WHAT is the name of a part ('section:6.1', 'claim:rebuild') or any
    words; of words, the section falls in part and they are the reason.
    """
    project = here()
    text = _text(document, project)
    at = _section(document, text, section)
    said = _said(document, at, falls, survives, nothing_else, why, author or author_of(project.root))
    kept, made, untold = annotating.correct(
        document, said, root=project.root, vocabulary=project.vocabulary, notary=project.notary
    )
    page.tell(untold)
    written = banner.insert(text, at, _banner(made, falls, survives, why, today()), digest=kept.name, number=made.seq)
    mode = document.stat().st_mode
    file.replace(document, written.encode("utf-8", "surrogateescape"))
    document.chmod(mode)
    called = os.path.relpath(document)
    if as_json:
        page.say({"document": called, "section": at.name, "number": made.seq, "kind": made.kind.value, "why": why})
        return 0
    folder = os.path.relpath(kept.parent, project.root)
    page.show(
        [
            line(Span(f"{made.kind.value} #{made.seq} of {called}", Tone.STRONG), f"  {at.called}"),
            line(f"commit {called} and {folder}/{kept.name[:12]}…"),
        ]
    )
    return 0


def _text(document: Path, project: Project) -> str:
    """Return the text of a document of this project.

    Raises:
        CorrectError: it is none, it lies elsewhere, or nobody may write it.
    """
    place = document.resolve()
    if document.suffix.lower() == ".rst":
        raise CorrectError(_no_document(document, "a document of Markdown or plain text", "reST", _ANNOTATE))
    if document.suffix.lower() not in annotating.DOCUMENTS or not document.is_file():
        saw = "none there" if not document.exists() else "something else"
        raise CorrectError(_no_document(document, f"a document ({', '.join(annotating.DOCUMENTS)})", saw))
    if not place.is_relative_to(project.root.resolve()):
        raise CorrectError(_no_document(document, "a document of this project", f"one at {place}"))
    if not os.access(place, os.W_OK):
        raise CorrectError(_no_document(document, "a document that can be written", "one that cannot"))
    return annotating.read_document(document)


def _section(document: Path, text: str, asked: str) -> banner.Heading:
    """Return the one section that somebody asked for.

    Raises:
        CorrectError: there is none, or more than one.
    """
    found = banner.sections(text, asked)
    if len(found) == 1:
        return found[0]
    if not found:
        raise CorrectError(_no_section(document, text, asked))
    saw = f'"{asked}" ' + ", ".join(f"in line {one.line} ({one.name})" for one in found)
    raise CorrectError(_no_document(document, "one section of this number or title (--section)", saw, _BY_NAME))


def _said(
    document: Path,
    at: banner.Heading,
    falls: tuple[str, ...],
    survives: tuple[str, ...],
    nothing_else: bool,
    why: str,
    author: str,
) -> Correction:
    """Return the correction: parts that have a name by their names, and all else in its reason."""
    known = annotating.names_in(document)
    absent = [one for one in (*falls, *survives) if one.startswith(("section:", "claim:")) and one not in known]
    if absent:
        there = sorted(one for one in known if one.startswith(("section:", "claim:")))
        saw = f"{', '.join(absent)}; there is {', '.join(there[:_LISTED])}"
        raise CorrectError(_no_document(document, "names of its sections and claims (--falls, --survives)", saw))
    both = sorted(set(falls) & set(survives))
    if both:
        raise CorrectError(_no_document(document, "what falls and what survives to be different things", both[0]))
    if not all(one.strip() for one in (*falls, *survives)):
        raise CorrectError(_no_document(document, "words in --falls and --survives", "nothing in one of them"))
    if not survives and not nothing_else:
        raise CorrectError(
            _no_document(document, "what survives (--survives), or --reviewed-nothing-else", "neither of them")
        )
    named = tuple(one for one in falls if one in known)
    stand = tuple(one for one in survives if one in known)
    words = [f"falls: {one}" for one in falls if one not in known]
    words += [f"survives: {one}" for one in survives if one not in known]
    return Correction(
        falls=named or (at.name,),
        survives=stand,
        nothing_else=not stand,
        reason="; ".join((why, *words)),
        author=author,
        kind=None if named else Extent.PARTIAL,
    )


def _banner(made: Annotation, falls: tuple[str, ...], survives: tuple[str, ...], why: str, day: datetime.date) -> str:
    stands = ", ".join(survives) or "nothing was looked at but this"
    who = f"#{made.seq}, {made.author}" if made.author else f"#{made.seq}"
    return f"**Corrected {day}** ({who}). Falls: {', '.join(falls)}. Survives: {stands}. Why: {why.rstrip('.')}."


def _no_section(document: Path, text: str, section: str) -> str:
    known = [*banner.headings(text)]
    called = {word.casefold(): one.called for one in known for word in (one.number, one.title, one.called) if word}
    near = difflib.get_close_matches(section.casefold(), called, 1)
    listed = ", ".join(f'"{one.called}"' for one in known[:_LISTED])
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    hint = f'did you mean "{called[near[0]]}"' if near else f"there is {listed}{more}" if known else "it has none"
    return _no_document(document, "a section of this number or title (--section)", f'"{section}"; {hint}')


def _no_document(document: Path, expected: str, saw: str, action: str = _HELP) -> str:
    return refusal(
        subject=str(document),
        expected=expected,
        saw=saw,
        means="A correction that stands nowhere corrects nothing, so nothing was written.",
        action=action,
        unaffected="the document, and what was said of it before",
    )
