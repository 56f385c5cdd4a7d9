"""What the script hands over is no reader of it; what reads it is, and a library speaks of a name wherever it does."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from affidavit.names import consumed

WORD = "stra" + "yed"  # whole, this module would be one that reads it
HANDS = """
import argparse
settings = {"NAME": 4}
settings[WORD] = 5
options = argparse.Namespace(NAME=4)
thing = dict(NAME=options.NAME)
other = {"NAME": options.NAME}
thing.NAME = options.NAME  # NAME
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Have a module with some source be loaded, below a folder."""

    def loaded(folder: str, text: str) -> None:
        path = tmp_path / folder / "module_under_test.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAME", WORD))
        module = types.ModuleType(f"module_{len(text)}")
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return loaded


@pytest.mark.parametrize(
    ("more", "is_read"),
    [
        ("", False),
        ("print(thing.NAME)", True),
        ("print(getattr(thing, 'NAME'))", True),
        ("print('NAME' in settings)", True),
        ("TEMPLATE = '{% if NAME %}x{% endif %}'", True),
        ("TEXT = 'it NAME far'", False),
        ("def f(NAME): return NAME", False),
    ],
)
def test_handing_on_is_not_reading(load: Callable[[str, str], None], more: str, is_read: bool) -> None:
    load("house", HANDS + more)
    assert (consumed.is_read_by_script([WORD]) == {WORD}) is is_read


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("def f(NAME=1): ...", True),
        ("x = kwargs.pop('NAME', None)", True),
        ("class C:\n    NAME: int = 1", True),
        ("x.NAME = 1", True),
        ("# NAME\ndef f():\n    '''Words of one that NAME.'''", False),
        ("NAME_far = 1", False),
        ("this is no python: NAME", True),
    ],
)
def test_a_library_speaks_of_a_name_in_its_code(load: Callable[[str, str], None], text: str, is_said: bool) -> None:
    load("site-packages", text)
    assert (consumed.is_said_by_library([WORD]) == {WORD}) is is_said
    assert (consumed.unread([WORD]) == {WORD}) is not is_said


def test_libraries_and_models_code_are_not_the_script_s() -> None:
    assert consumed.is_own(__file__)
    for path in (
        types.__file__,
        consumed.__file__,
        "<string>",
        "/x/site-packages/a.py",
        "/c/transformers_modules/m.py",
    ):
        assert not consumed.is_own(str(path))


def test_what_a_class_knows_is_in_its_place() -> None:
    class Made:
        attribute_map = {"alias": "width"}

        def __init__(self) -> None:
            self.put_aside, self.width, self.alias = 1, 2, 3
            self.init_kwargs = {"bagged": 1}

        @property
        def shown(self) -> int:
            return 1

    given = {"put_aside": 1, "alias": 1, "shown": 1, "bagged": 1, "nowhere": 1}
    assert set(consumed.astray(Made(), given)) == {"put_aside", "bagged"}
