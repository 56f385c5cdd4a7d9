"""Whatever a function is wrapped in, a mutant stands in it and is gone again; what cannot be disarmed says why."""

from __future__ import annotations

import asyncio
import functools
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from affidavit.mutation.limit import Limit, TimeIsUp
from affidavit.mutation.mutant import Mutant, Subject
from affidavit.mutation.swap import RestoreError, armed
from affidavit.mutation.target import Target, TargetError, resolve

HERE = __name__


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*given: Any) -> Any:
        return function(*given)

    return inner


def forgetful(function: Any) -> Any:
    def inner(*given: Any) -> Any:
        return function(*given)

    return inner


def made(limit: int) -> Callable[[int], bool]:
    def within(x: int) -> bool:
        return x < limit

    return within


bound = made(3)


@doubled
def decorated(x: int) -> bool:
    return x < 3


@forgetful
def hidden(x: int) -> bool:
    return x < 3


@functools.lru_cache
def cached(x: int) -> bool:
    return x < 3


def recursive(x: int) -> bool:
    if x // 10:
        return recursive(x - 10)
    return x < 3


def generated(x: int) -> Iterator[bool]:
    if x < 3:
        yield True


async def awaited(x: int) -> bool:
    return x < 3


async def streamed(x: int) -> AsyncIterator[bool]:
    if x < 3:
        yield True


class Base:
    def method(self, x: int) -> bool:
        return x < 3


@dataclass(frozen=True, slots=True)
class Point:
    at: int

    def __post_init__(self) -> None:
        if self.at >= 3:
            raise ValueError(self.at)

    def is_low(self) -> bool:
        return self.at < 3


class Kinds(Base):
    def method(self, x: int) -> bool:
        return super().method(x) and x < 3

    @staticmethod
    def still(x: int) -> bool:
        return x < 3

    @classmethod
    def of(cls, x: int) -> bool:
        return x < 3

    @property
    def own(self) -> bool:
        return self.__limit() > 3

    def __limit(self) -> int:
        return 3 if self else 0

    @functools.cached_property
    def once(self) -> bool:
        return bool(self.__limit() < 3)


async def _first(stream: AsyncIterator[bool]) -> bool:
    return [one async for one in stream] == [True]


CALLS: dict[str, Callable[[], Any]] = {
    "decorated": lambda: decorated(3),
    "hidden": lambda: hidden(3),
    "cached": lambda: cached(3),
    "recursive": lambda: recursive(13),
    "generated": lambda: list(generated(3)) == [True],
    "awaited": lambda: asyncio.run(awaited(3)),
    "streamed": lambda: asyncio.run(_first(streamed(3))),
    "bound": lambda: bound(3),
    "Base.method": lambda: Base().method(3),
    "Kinds.still": lambda: Kinds.still(3),
    "Kinds.of": lambda: Kinds.of(3),
    "Kinds.own": lambda: Kinds().own,
    "Kinds.once": lambda: Kinds().once,
    "Point.is_low": lambda: Point(2).is_low() and not Point(2),
}


def _boundary(target: Target) -> Mutant:
    return next(one for one in Subject(target).mutants() if one.operator == "boundary")


@pytest.mark.parametrize("path", [path for path in CALLS if path != "Point.is_low"])
def test_a_mutant_stands_in_it_and_is_gone_again(path: str) -> None:
    target = resolve(f"{HERE}:{path if path != 'bound' else 'bound'}")
    original = target.function.__code__
    assert not CALLS[path]()
    with armed(target, _boundary(target)):
        assert CALLS[path]()
    assert not CALLS[path]() and target.function.__code__ is original


@pytest.mark.parametrize("path", ["Kinds.method", "Point.__post_init__", "Point.is_low", "Kinds.__limit"])
def test_methods_with_super_and_of_dataclasses_keep_their_class(path: str) -> None:
    target = resolve(f"{HERE}:{path}")
    for mutant in Subject(target).mutants():
        with armed(target, mutant):
            try:
                Kinds().method(1), Point(2).is_low(), Kinds().own
            except (ValueError, TypeError) as error:
                assert str(error)
    assert Kinds().method(1) and Point(2).is_low() and not Kinds().own


@pytest.mark.parametrize("path", ["decorated", "generated", "awaited", "streamed", "Kinds.method", "bound"])
def test_the_tripwire_tells_who_steps_on_it(path: str) -> None:
    target = resolve(f"{HERE}:{path}")
    stepped: list[int] = []

    def step() -> BaseException:
        stepped.append(1)
        return KeyError("stepped")

    calls = CALLS | {"Kinds.method": lambda: Kinds().method(3)}
    with armed(target, Subject(target).tripwire(step)), pytest.raises(KeyError, match="stepped"):
        calls[path]()
    assert stepped and not calls[path]()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit, TimeIsUp])
def test_nothing_keeps_a_mutant_in(raised: type[BaseException]) -> None:
    target = resolve(f"{HERE}:decorated")
    original = target.function.__code__
    with pytest.raises(raised), armed(target, _boundary(target)):
        raise raised
    assert target.function.__code__ is original


def test_whoever_moves_the_function_meanwhile_is_told() -> None:
    target = resolve(f"{HERE}:decorated")
    original = target.function.__code__
    with pytest.raises(RestoreError, match="replaces its code itself"), armed(target, _boundary(target)):
        target.function.__code__ = (lambda x: True).__code__
    assert target.function.__code__ is original


def test_a_module_of_torch_is_a_class_like_others() -> None:
    torch = pytest.importorskip("torch")
    target = resolve("torch.nn.modules.linear:Identity.forward")
    module, x = torch.nn.Identity(), torch.ones(2)
    mutants = list(Subject(target).mutants())
    assert [one.operator for one in mutants] == ["result"]
    with armed(target, mutants[0]):
        assert module(x) is None
    assert module(x) is x


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("json", 'expected "module:function"'),
        ("no_such_module:f", "module no_such_module cannot be imported: ModuleNotFoundError"),
        (f"{HERE}:decorate", 'there is no "decorate" in .*; did you mean "decorated"'),
        (f"{HERE}:Kinds.stil", 'there is no "stil" in Kinds; did you mean "still"'),
        (f"{HERE}:Kinds", "Kinds is a class: name one of its functions, as in .*:Kinds.method"),
        (f"{HERE}:HERE", "HERE is a str, not a function"),
        ("math:sqrt", "sqrt is a builtin_function_or_method: compiled"),
        (f"{HERE}:anonymous", "anonymous is a lambda"),
        (f"{HERE}:Point.__eq__", "is not on disk"),
    ],
)
def test_what_cannot_be_disarmed_says_why(name: str, why: str) -> None:
    with pytest.raises(TargetError, match=why):
        Subject(resolve(name))


anonymous = lambda x: x  # noqa: E731  that is what it is here for


def test_an_endless_loop_ends_and_the_timer_is_as_it_was() -> None:
    limit, before, left = Limit(), signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    began = time.monotonic()

    def never_lets_go() -> None:
        while True:
            try:
                time.sleep(0.001)
            except BaseException:  # noqa: BLE001
                continue

    with pytest.raises(TimeIsUp), limit.of(0.05):
        never_lets_go()
    assert time.monotonic() - began < 5
    assert signal.getsignal(signal.SIGALRM) is before
    assert bool(left[0]) == bool(signal.getitimer(signal.ITIMER_REAL)[0]), "whoever waits for it still does"


def test_who_takes_the_alarm_for_himself_keeps_it() -> None:
    limit, before, left = Limit(), signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    try:
        with limit.of(5.0):
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN and limit.taken
        with pytest.raises(TimeIsUp), limit.of(0.05):
            while True:
                pass
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *left)
