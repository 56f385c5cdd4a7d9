"""Small projects, and what is read out of them in a form that fits on a line."""

from __future__ import annotations

from pathlib import Path

from affidavit.lint.request import Given, Request
from affidavit.lint.scripts import Reading, read_scripts


def project(folder: Path, **files: str) -> Reading:
    """Write files, ``a__b`` for ``a/b.py`` and ``a__`` for ``a/__init__.py``, and read them."""
    paths = []
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}{'__init__' if name.endswith('__') else ''}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        paths.append(path)
    return read_scripts(paths, folder)


def said(request: Request) -> tuple[str, str]:
    """Return the callee, and ``name:line`` for every name, nested ones in brackets."""
    return request.callee, " ".join(map(_name, request.given))


def _name(one: Given) -> str:
    inside = f"[{' '.join(map(_name, one.inside))}]" if one.inside else ""
    return f"{one.name}:{one.line}{inside}"


def sure(reading: Reading) -> list[tuple[str, str]]:
    """Return the requests that are judged."""
    return [said(request) for request in reading.requests if request.given and not request.guard]


def bare(reading: Reading) -> list[tuple[str, int, bool]]:
    """Return the calls that give no name: how many values they give by place, and whether names may come."""
    return [(one.callee, one.positional, one.is_open) for one in reading.requests if not one.given]


def guarded(reading: Reading) -> list[tuple[str, str, str]]:
    """Return the requests that are not, each with its guard."""
    return [(*said(request), request.guard) for request in reading.requests if request.guard]
