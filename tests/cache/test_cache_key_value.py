"""A value joins the key by what it means, and a function that nobody here wrote by its name."""

from __future__ import annotations

import collections
import datetime
import enum
import functools
import json
import random
import re
import types
from pathlib import Path
from typing import Any

import pytest

from affidavit.cache.key import preimage_of


def plain(row: Any) -> Any:
    return row


def test_a_function_that_nobody_here_wrote_counts_by_its_name() -> None:
    functions = [len, print, str.upper, json.dumps, json.loads, dict, "a".upper, "b".upper, functools.partial(len)]
    assert len({preimage_of(function).digest for function in functions}) == len(functions) - 1  # a partial adds nothing


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


class Slots:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


class Ring(list):  # type: ignore[type-arg]
    pass


def _ring(value: int) -> Ring:
    ring = Ring([value])
    ring.append(ring)
    return ring


VALUES = [
    (lambda n: collections.Counter({"a": n}), "counter"),
    (lambda n: collections.defaultdict(list, {"a": [n]}), "default"),
    (lambda n: collections.deque([n]), "deque"),
    (lambda n: datetime.timedelta(n), "time"),
    (lambda n: re.compile("a" * n), "pattern"),
    (lambda n: Kind(n), "enum"),
    (lambda n: Slots(n), "slots"),
    (lambda n: {n, "a", "b"}, "set"),
    (lambda n: random.Random(n), "random"),
    (lambda n: functools.partial(plain, n), "partial"),
    (lambda n: types.MappingProxyType({"a": n}), "proxy"),
    (lambda n: bytes([n]), "bytes"),
    (lambda n: range(n), "range"),
    (lambda n: Path("a") / str(n), "path"),
    (_ring, "a value within itself"),
    (lambda n: (lambda row: row + 1) if n == 1 else (lambda row: row + 2), "lambda"),
    (lambda n: __import__("numpy").full(3, n), "array"),
    (lambda n: __import__("torch").full((3,), n), "tensor"),
    (lambda n: __import__("pyarrow").table({"x": [n]}), "table"),
]


@pytest.mark.parametrize(("make_value", "name"), VALUES, ids=[row[1] for row in VALUES])
def test_a_value_counts_by_what_it_means(make_value: Any, name: str) -> None:
    one, again, two = (preimage_of(plain, config={"held": make_value(n)}).digest for n in (1, 1, 2))
    assert one == again
    assert one != two


def test_a_table_in_other_pieces_is_the_same_table() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    whole = pyarrow.table({"x": [1, 2, 3, 4]})
    pieces = pyarrow.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert preimage_of(plain, config={"x": whole}).digest == preimage_of(plain, config={"x": pieces}).digest
