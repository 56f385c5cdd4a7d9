"""Limits end a sleep and a busy loop, nest, give the signal back, and never touch one that the run uses itself."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from affidavit.attach import guard
from affidavit.attach.guard import TimeLimitPassed, can_limit, describe, run_limited
from affidavit.attach.neutral import neutral


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """pytest-timeout uses the signal itself: it is put aside, and must be free again afterwards."""
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    yield
    left = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)
    assert left == (signal.SIG_DFL, (0.0, 0.0))


def _spin() -> None:
    while True:
        pass


def _swallowing() -> None:
    """Code that catches everything, as destructors and bare excepts do."""
    for _ in range(2):
        try:
            time.sleep(60)
        except BaseException:  # noqa: BLE001  the point
            continue


@pytest.mark.parametrize("hang", [lambda: time.sleep(60), _spin])
def test_a_hang_is_ended(hang: Callable[[], None]) -> None:
    begun = time.monotonic()
    with pytest.raises(TimeLimitPassed):
        run_limited(0.1, hang)
    assert time.monotonic() - begun < 2


def test_a_limit_that_is_swallowed_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_AGAIN_SECONDS", 0.1)
    begun = time.monotonic()
    run_limited(0.1, _swallowing)
    assert time.monotonic() - begun < 5


def test_what_ends_in_time_is_not_disturbed() -> None:
    done: list[int] = []
    run_limited(5, lambda: done.append(1))
    assert done == [1]
    with pytest.raises(ZeroDivisionError):
        run_limited(5, lambda: done.append(1 // 0))


def test_an_inner_limit_leaves_the_outer_one_its_time() -> None:
    said: list[str] = []

    def outer() -> None:
        with pytest.raises(TimeLimitPassed):
            run_limited(0.1, _spin)
        said.append("inner")
        time.sleep(60)

    begun = time.monotonic()
    with pytest.raises(TimeLimitPassed):
        run_limited(0.6, outer)
    assert said == ["inner"]
    assert 0.5 < time.monotonic() - begun < 3


def test_an_inner_limit_never_outlasts_the_outer() -> None:
    begun = time.monotonic()
    with pytest.raises(TimeLimitPassed):
        run_limited(0.2, lambda: run_limited(60, _spin))
    assert time.monotonic() - begun < 2


def test_a_signal_that_the_run_uses_is_left_alone() -> None:
    rung: list[int] = []
    signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert not can_limit()
        run_limited(0.01, lambda: time.sleep(0.05))
        assert rung == []
        time.sleep(0.4)
        assert rung == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_a_timer_alone_is_use_enough() -> None:
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        assert not can_limit()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert can_limit()


def test_another_thread_has_no_limit_and_does_not_touch_the_signal() -> None:
    seen: list[object] = []

    def elsewhere() -> None:
        seen.append(can_limit())
        run_limited(0.01, lambda: time.sleep(0.1))
        seen.append(signal.getsignal(signal.SIGALRM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [False, signal.SIG_DFL]


def test_a_description_holds_nothing_of_the_message() -> None:
    secret = "hf_" + "q" * 34
    try:
        raise ValueError(secret)
    except ValueError as error:
        said = describe(error)
    assert said.startswith("ValueError at test_attach_guard.py:")
    assert secret not in said
    try:
        raise ValueError("another")
    except ValueError as error:
        other = describe(error)
    assert other.split(",")[0] != said.split(",")[0], "two places are told apart"


def test_neutral_gives_back_every_state_even_when_one_cannot_be_restored() -> None:
    restored: list[str] = []

    def broken() -> Callable[[], None]:
        return lambda: restored.append("broken") or 1 / 0  # type: ignore[func-returns-value]

    def sound() -> Callable[[], None]:
        return lambda: restored.append("sound")

    random.seed(3)
    expected = random.random()
    random.seed(3)
    with pytest.raises(ZeroDivisionError), neutral((sound, broken)):
        random.random()
    assert restored == ["broken", "sound"]
    assert random.random() == expected
