"""From a dossier to the bytes of one file: escaped, styled from within, and allowed to load and to run nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from affidavit.report.absence import brief
from affidavit.report.page.dossier import Dossier
from affidavit.report.page.lit import ROWS_OPEN
from affidavit.report.page.view import view
from affidavit.report.terminal import clean

if TYPE_CHECKING:
    from jinja2 import Environment

_PARTS = ("report.html", "parts.html")
_STYLE = "report.css"
_CORRECTIONS, _REASONS, _SETS = 2, 20, 4
"""Sets of ranks and trainings that are drawn; what differs more often stands among all facts."""


def render(dossier: Dossier) -> bytes:
    """Return the page of a run, in UTF-8.

    Every text goes through ``clean`` and is escaped, both at the one door through which texts enter the template; the
    policy in its head lets a browser load and run nothing but the style that is hashed there.

    Source: W3C Content Security Policy level 3, hashes of inline styles.
    Blind to: a browser that heeds no policy; it still finds no script to run.
    """
    style = _resource(_STYLE)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = (
        _environment()
        .get_template("report.html")
        .render(
            view=view(dossier),
            style=style,
            style_digest=digest,
            rows_open=ROWS_OPEN,
            sets=_SETS,
            corrections_open=_CORRECTIONS,
            reasons=_REASONS,
            brief=brief,
        )
    )
    return page.encode()


@cache
def _environment() -> Environment:
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    def finalize(said: object) -> object:
        return clean(said) if isinstance(said, str) and not isinstance(said, Markup) else said

    return Environment(
        loader=DictLoader({name: _resource(name) for name in _PARTS}),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
