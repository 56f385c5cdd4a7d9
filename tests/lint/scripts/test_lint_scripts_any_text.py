"""Whatever the text is, reading it ends, and ends without an error of ours."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.lint.scripts import Reading, read_scripts

HEAD = "import argparse\nfrom transformers import TrainingArguments as T, HfArgumentParser as H\n"
PARTS = (
    "d = {}",
    "d['a'] = 1",
    "d.pop('a')",
    "T(**d)",
    "d = T(a=1)",
    "d.x = 1",
    "if d:",
    "else:",
    "try:",
    "except TypeError:",
    "    T(b=2)",
    "    d = {'c': 3}",
    "def f(d, *a, **k):",
    "    return f(d, **k)",
    "    yield d",
    "f(**d)",
    "f(d)",
    "class T(T):",
    "    d = d",
    "for d in d:",
    "while d:",
    "with d as d:",
    "p = argparse.ArgumentParser()",
    "p.add_argument(*d)",
    "p.add_argument('--a', **d)",
    "d = p.parse_args()",
    "d, *e = p.parse_known_args()",
    "p = H((T, d))",
    "del d",
    "del d['a']",
    "global d",
    "import a.b",
    "from . import a",
    "from .... import *",
    "lambda d: T(**d)",
    "d |= d",
    "d = [d, d]",
    "match d:",
    "    case {'a': d}:",
    "d = d[0]",
    "d = d['a']",
    "d = vars(d)",
    "super().__init__(**d)",
    "(d := {})",
    "async def g():",
    "    await T(a=1)",
    "d: T = {}",
    "d = {**d, 'a': d}",
    "d = dict(d, a=d)",
    "@f",
    "raise d",
    "return d",
)


def _read(raw: bytes) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.py"
        path.write_bytes(raw)
        return read_scripts([path], Path(folder))


@given(st.lists(st.sampled_from(PARTS), max_size=25))
@settings(max_examples=300, deadline=None)
def test_any_order_of_statements(parts: list[str]) -> None:
    reading = _read((HEAD + "\n".join(parts) + "\n").encode())
    assert reading.files == 1


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_order_of_statements_that_parses(data: st.DataObject) -> None:
    """Blocks are filled, so that most of what is drawn is Python."""
    lines: list[str] = []
    for part in data.draw(st.lists(st.sampled_from(PARTS), max_size=20)):
        lines.append(part)
        if part.endswith(":") and not part.startswith(" "):
            lines.append("    T(**d)")
    text = HEAD + "\n".join(lines) + "\n"
    try:
        ast.parse(text)
    except SyntaxError:
        assert len(_read(text.encode()).unread) == 1
    else:
        assert _read(text.encode()).unread == ()


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes(raw: bytes) -> None:
    assert _read(b"from transformers import Trainer\nTrainer(a=1)\n" + raw).files == 1


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_python_somewhere(part: str) -> None:
    """A part that never parses would prove nothing."""
    around = {
        "else:": "if d:\n  1\nelse:\n  1",
        "except TypeError:": "try:\n  1\nexcept TypeError:\n  1",
        "try:": "try:\n  1\nfinally:\n  1",
        "    case {'a': d}:": "match d:\n    case {'a': d}:\n      1",
        "match d:": "match d:\n  case 1:\n    1",
        "@f": "@f\ndef g(): 1",
    }
    text = around.get(part, part.strip())
    text = text + "\n  1" if text.endswith(":") else text
    ast.parse(f"async def f():\n  {text.replace(chr(10), chr(10) + '  ')}\n")
