"""The picture in the README is drawn from what the README prints, which runs; nobody can draw it by hand."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from types import ModuleType

import pytest
from console import ROOT

README = ROOT / "README.md"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs/picture.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_picture_is_what_the_readme_prints(picture: ModuleType) -> None:
    assert picture.PICTURE.read_text() == picture.draw(README.read_text()), "run: python docs/picture.py"
    assert "(docs/lit-tokens.svg)" in README.read_text()


def test_what_is_lit_glows_and_nothing_is_loaded_from_anywhere(picture: ModuleType) -> None:
    drawn = ElementTree.fromstring(picture.draw(README.read_text()))
    lit = [text.text for text in drawn.iter(f"{SVG}text") if text.get("class") == "lit"]
    assert lit[1:] == [
        "⟦What colour is the road near the forest?<turn|>⟧",
        "⟦The road near the forest is black.<turn|>⟧",
    ]
    assert sum(box.get("class") == "glow" for box in drawn.iter(f"{SVG}rect")) == len(lit)
    assert not any("href" in name for node in drawn.iter() for name in node.attrib)
    (title,) = drawn.iter(f"{SVG}title")
    assert "76 of 112 tokens carry the loss" in str(title.text)


def test_another_text_is_another_picture_and_none_is_refused(picture: ModuleType) -> None:
    readme = README.read_text()
    assert picture.draw(
        readme.replace("⟦What colour is the road near the forest?<turn|>⟧", "What colour?")
    ) != picture.draw(readme)
    with pytest.raises(ValueError, match="expected a block"):
        picture.draw("# Nothing is printed here\n")
