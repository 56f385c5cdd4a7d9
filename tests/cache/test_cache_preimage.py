"""A pre-image travels, keeps its digest, is refused where it was bent, and says in words how it differs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from affidavit.cache.key import preimage_of
from affidavit.cache.preimage import Part, Preimage, PreimageShapeError, differ


def plain(row: Any) -> Any:
    return row


PART = Part("global", "enc.MASK", "sha256:ab", "['a']")


def test_a_pre_image_travels_and_keeps_its_digest() -> None:
    found = preimage_of(plain, config={"b": 1, "a": [2.5, None]})
    assert Preimage.from_json(found.to_json()) == found
    assert Preimage.from_json(found.to_json()).digest == found.digest
    assert Preimage(tuple(reversed(found.parts))).digest == found.digest


def test_the_words_shown_are_no_part_of_the_digest() -> None:
    assert Preimage((PART,)).digest == Preimage((dataclasses.replace(PART, shown=""),)).digest


@pytest.mark.parametrize(
    "bend",
    [
        lambda data: data["parts"][0].update(digest="sha256:cd"),
        lambda data: data["parts"][0].pop("kind"),
        lambda data: data.update(version=99),
        lambda data: data["parts"][0].update(shown=1),
        lambda data: data["parts"].append(dict(data["parts"][0])),
    ],
)
def test_a_stored_pre_image_that_was_bent_is_refused(bend: Any) -> None:
    data = Preimage((PART,)).to_json()
    bend(data)
    with pytest.raises(PreimageShapeError):
        Preimage.from_json(data)


def test_a_difference_is_said_in_words() -> None:
    one = Preimage((PART, Part("source", "enc.a", "sha256:1", ""), Part("config", "x", "sha256:5", "1")))
    two = Preimage(
        (dataclasses.replace(PART, digest="sha256:cd", shown="['b']"), Part("source", "enc.a", "sha256:2", ""))
    )
    assert [change.says for change in differ(one, two)] == [
        "config x is gone: it was 1",
        "global enc.MASK was ['a'], is ['b']",
        "source enc.a changed (1 to 2)",
    ]
    assert differ(one, one) == ()
