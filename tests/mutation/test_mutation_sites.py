"""Each way to disarm has an example that shows it; what means the same, and what only talks, is no disarm."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from affidavit.mutation.mutant import Mutant, Subject
from affidavit.mutation.sites import OPERATORS
from affidavit.mutation.swap import armed
from affidavit.mutation.target import resolve

_numbers = itertools.count()

EXAMPLES = [
    ("condition-never", "def f(x):\n    if x:\n        return 1\n    return 2", "x → False", ([5], 2)),
    ("condition-always", "def f(x):\n    return 1 if x else 2", "x → True", ([0], 1)),
    ("condition-always", "def f(x):\n    return [n for n in x if n > 1]", "n > 1 → True", ([[1, 2]], [1, 2])),
    ("boundary", "def f(x):\n    return x < 3", "< → <=", ([3], True)),
    ("negation", "def f(x):\n    return [n == 1 for n in x]", "== → !=", ([[1]], [False])),
    ("negation", "def f(x):\n    return [~n for n in x]", "~n → n", ([[1]], [1])),
    ("operand", "def f(x, y):\n    return [x and y]", "x and y → y", ([0, 1], [1])),
    ("operand", "def f(x, y, z):\n    return x and y and z", "x and y and z → x and y", ([1, 2, 0], 2)),
    (
        "refusal",
        "def f(x):\n    if not x:\n        raise ValueError\n    return x",
        "raise ValueError → pass",
        ([0], 0),
    ),
    ("refusal", "def f(x):\n    assert x\n    return 1", "assert x → pass", ([0], 1)),
    ("result", "def f(x):\n    return [x]", "[x] → None", ([1], None)),
    ("result", "def f(x):\n    return x in (1,)", "x in (1,) → True", ([2], True)),
    ("result", "def f(x) -> bool:\n    return x.ok", "x.ok → False", ([SimpleNamespace(ok=True)], False)),
    ("unchanged", "def f(x):\n    return x.replace('a', 'b')", "x.replace('a', 'b') → x", (["a"], "a")),
    ("unchanged", "def f(x):\n    y = sorted(x)\n    return y", "sorted(x) → x", ([[2, 1]], [2, 1])),
    ("statement", "def f(x):\n    x = x + [1]\n    return x", "x = x + [1] → pass", ([[]], [])),
    ("statement", "def f(x):\n    x.append(1)\n    return x", "x.append(1) → pass", ([[]], [])),
    ("term", "def f(x, y):\n    return x * y", "x * y → y", ([2, 5], 5)),
    ("loop", "def f(x):\n    n = 0\n    for _ in x:\n        n += 1\n    return n", "x → ()", ([[1]], 0)),
    (
        "jump",
        "def f(x):\n    y = []\n    for n in x:\n        if n:\n            continue\n        y += [n]\n    return y",
        "continue → break",
        ([[1, 0]], []),
    ),
    (
        "handler",
        "def f(x):\n    try:\n        return int(x)\n    except ValueError:\n        return 0",
        "the handler's body → raise",
        (["a"], ValueError),
    ),
    ("table", "BANNED = {1}\ndef f(x):\n    return x in BANNED", "BANNED → set()", ([1], False)),
    (
        "table",
        "class C:\n    KEPT = (1,)\n    def f(self, x):\n        return x in self.KEPT",
        "KEPT → ()",
        ([1], False),
    ),
]


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Make a module of a text and return its name."""
    made: list[str] = []

    def make(text: str) -> str:
        name = f"disarmed_{next(_numbers)}"
        file = tmp_path / f"{name}.py"
        file.write_text(text + "\n")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        made.append(name)
        return name

    yield make
    for name in made:
        del sys.modules[name]


def _say(mutant: Mutant) -> str:
    return f"{mutant.was} → {mutant.becomes}"


def _mutants(name: str) -> list[Mutant]:
    return list(Subject(resolve(name)).mutants())


@pytest.mark.parametrize(("operator", "text", "change", "shown"), EXAMPLES)
def test_the_disarm_is_made_and_shows(
    operator: str, text: str, change: str, shown: tuple[list[Any], Any], module: Callable[[str], str]
) -> None:
    name = module(text)
    path = "C.f" if "class C" in text else "f"
    target = resolve(f"{name}:{path}")
    (mutant,) = [one for one in Subject(target).mutants() if (one.operator, _say(one)) == (operator, change)]
    given, expected = shown
    called = sys.modules[name].C().f if path == "C.f" else target.function

    def outcome() -> Any:
        try:
            return called(*[one[:] if isinstance(one, list) else one for one in given])
        except (ValueError, OSError, AssertionError) as error:
            return type(error)

    before = outcome()
    with armed(target, mutant):
        assert outcome() == expected
    assert outcome() == before != expected


def test_every_operator_has_an_example() -> None:
    assert {operator for operator, *_ in EXAMPLES} == set(OPERATORS)


@pytest.mark.parametrize(
    "text",
    [
        'def f(x):\n    """Says."""\n    print(x)\n    logger.info("a %s", x + 1)\n    self.log.debug("b")',
        "def f(x):\n    raise NotImplementedError(x + 1)",
        "def f(x):\n    if DEBUG:\n        print(x)",
        'def f(x):\n    y = f"{x + 1}" "a"',
        "def f(x):\n    y = list(x)",
        "def f(x):\n    return x > 3  # pragma: no mutate",
    ],
)
def test_what_only_talks_is_left_alone(text: str, module: Callable[[str], str]) -> None:
    assert _mutants(f"{module(text)}:f") == []


def test_no_two_mutants_are_the_same_program(module: Callable[[str], str]) -> None:
    name = module(
        "def f(x):\n    if x:\n        return True\n    return False\n\ndef g(x):\n    while True:\n        x()"
    )
    found = [(one.operator, one.line, one.becomes) for one in _mutants(f"{name}:f")]
    assert found == [
        ("condition-never", 2, "False"),
        ("condition-always", 2, "True"),
        ("result", 3, "False"),  # the same as never; kept apart by its dead code
        ("result", 4, "True"),
    ]
    assert [one.operator for one in _mutants(f"{name}:g")] == ["statement"], "an endless loop is not made endless"


def test_the_smaller_of_two_has_no_boundary(module: Callable[[str], str]) -> None:
    name = module("def f(x, y):\n    return x if x < y else y\n\ndef g(x, y):\n    return x if x < y else 0")
    assert "boundary" not in {one.operator for one in _mutants(f"{name}:f")}
    assert "boundary" in {one.operator for one in _mutants(f"{name}:g")}
