"""A live signature says what is taken, what is refused, and where the rest goes; a decorator's looks decide nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from affidavit.names.live import read, resolved
from affidavit.names.signature import Rest


@dataclass
class Closed:
    size: int = 1


class Base:
    def __init__(self, depth: int = 1) -> None:
        self.depth = depth


class Above(Base):
    """Its rest goes up, where the names end."""

    def __init__(self, size: int = 1, **kwargs: Any) -> None:
        self.colour = kwargs.pop("colour", "red")
        super().__init__(**kwargs)


class Kept:
    def __init__(self, size: int = 1, **kwargs: Any) -> None:
        for name, value in kwargs.items():
            setattr(self, name, value)


class Dropping:
    def __init__(self, size: int = 1, **kwargs: Any) -> None:
        self.size = kwargs.get("old_size", size)


class Passing:
    def __init__(self, **kwargs: Any) -> None:
        self.inner = Closed(**kwargs)


def _handing(inner: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(inner)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    return wrapper


def _taking(inner: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(inner)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return inner(*args)

    return wrapper


def _plain(size: int = 1) -> int:
    return size


@pytest.mark.parametrize(
    ("callee", "rest", "names"),
    [
        (Closed, Rest.CLOSED, {"size"}),
        (Above, Rest.CLOSED, {"size", "colour", "depth"}),
        (Kept, Rest.KEPT, {"size"}),
        (Dropping, Rest.KEPT, {"size", "old_size"}),
        (Passing, Rest.OPEN, set()),
        (_plain, Rest.CLOSED, {"size"}),
        (_handing(_plain), Rest.CLOSED, {"size"}),
        (_taking(_plain), Rest.OPEN, {"size"}),
    ],
)
def test_the_rest_goes_where_the_code_sends_it(callee: Any, rest: Rest, names: set[str]) -> None:
    signature = read(callee)
    assert signature is not None
    assert signature.rest is rest
    assert set(signature.parameters) == names


def test_what_has_no_signature_is_not_read() -> None:
    assert read(iter) is None or read(iter).rest is not None  # type: ignore[union-attr]
    assert read(3) is None


def test_only_what_is_loaded_is_resolved() -> None:
    assert resolved("functools.partial") is functools.partial
    assert resolved("no_such_package.thing") is None
    assert resolved("functools.no_such_thing") is None
