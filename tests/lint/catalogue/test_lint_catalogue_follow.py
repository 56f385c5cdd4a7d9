"""Where the names of ``**kwargs`` go: what is read is known, and only what surely raises is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from installation import install, read

from affidavit.names.signature import Rest

PRELUDE = """
import copy, logging, warnings
from typing import TypedDict, Unpack
logger = logging.getLogger(__name__)
NAMES = ["one", "two"]
def closed(known, other=1): ...
def kept(deep=1, **kw): ...
class Closed:
    def __init__(self, known): ...
class Options(TypedDict, total=False):
    typed: int
"""

CASES = {
    # text of the function, names that are known, what becomes of the rest
    "popped": (
        "def f(**kw):\n    x = kw.pop('a', 3)\n    y = kw.get('b')\n    z = kw['c']\n    if 'd' in kw: pass\n",
        "a b c d",
        Rest.KEPT,
    ),
    "never read": ("def f(**kw): pass\n", "", Rest.KEPT),
    "told only": ("def f(**kw):\n    if kw:\n        logger.warning(f'unused {kw}')\n", "", Rest.KEPT),
    "refused": (
        "def f(**kw):\n    x = kw.pop('a')\n    if kw:\n        raise TypeError(f'{list(kw)}')\n",
        "a",
        Rest.CLOSED,
    ),
    "refused by length": ("def f(**kw):\n    if len(kw) > 0:\n        raise TypeError(kw)\n", "", Rest.CLOSED),
    "refused sometimes": ("def f(x, **kw):\n    if x and kw:\n        raise TypeError(kw)\n", "x", Rest.OPEN),
    "refused on one path": (
        "def f(x, **kw):\n    if x:\n        return 1\n    if kw:\n        raise TypeError(kw)\n",
        "x",
        Rest.OPEN,
    ),
    "handed on": ("def f(**kw):\n    return closed(**kw)\n", "known other", Rest.CLOSED),
    "handed on, some given": ("def f(**kw):\n    return closed(1, other=2, **kw)\n", "", Rest.CLOSED),
    "handed to a class": ("def f(**kw):\n    return Closed(**kw)\n", "known", Rest.CLOSED),
    "handed to what keeps": ("def f(**kw):\n    return kept(**kw)\n", "deep", Rest.KEPT),
    "handed on after a copy": (
        "def f(**kw):\n    more = dict(kw)\n    more.update(x=1)\n    return closed(**more)\n",
        "known other",
        Rest.CLOSED,
    ),
    "handed on merged": (
        "def f(**kw):\n    more = {'a': 1, **kw}\n    return closed(**more)\n",
        "known other",
        Rest.CLOSED,
    ),
    "handed on one path": ("def f(x, **kw):\n    if x:\n        return closed(**kw)\n", "x known other", Rest.OPEN),
    "handed on both paths": (
        "def f(x, **kw):\n    if x:\n        return closed(**kw)\n    else:\n        return Closed(**kw)\n",
        "x known other",
        Rest.CLOSED,
    ),
    "handed or raised": (
        "def f(x, **kw):\n    if x:\n        return closed(**kw)\n    raise ValueError\n",
        "x known other",
        Rest.CLOSED,
    ),
    "handed in a lambda": ("def f(**kw):\n    return lambda: closed(**kw)\n", "known other", Rest.OPEN),
    "tried": (
        "def f(**kw):\n    try:\n        return closed(**kw)\n    except TypeError:\n        return None\n",
        "known other",
        Rest.OPEN,
    ),
    "tried for something else": (
        "def f(**kw):\n    try:\n        return closed(**kw)\n    except OSError:\n        return None\n",
        "known other",
        Rest.CLOSED,
    ),
    "suppressed": (
        "def f(**kw):\n    with contextlib.suppress(TypeError):\n        closed(**kw)\n",
        "known other",
        Rest.OPEN,
    ),
    "filtered": ("def f(**kw):\n    return closed(**{k: v for k, v in kw.items() if k in good})\n", "", Rest.OPEN),
    "handed to the unknown": ("def f(model, **kw):\n    return model(**kw)\n", "model", Rest.OPEN),
    "handed to a local": ("def f(**kw):\n    cls = pick()\n    return cls(**kw)\n", "", Rest.OPEN),
    "returned": ("def f(**kw):\n    return kw\n", "", Rest.OPEN),
    "put away": ("def f(self, **kw):\n    self.options = kw\n", "self", Rest.OPEN),
    "read by a list": ("def f(**kw):\n    for n in ['a', 'b']:\n        kw.pop(n, None)\n", "a b", Rest.KEPT),
    "read by a list that is kept": (
        "def f(**kw):\n    for n in NAMES:\n        kw.pop(n, None)\n",
        "one two",
        Rest.KEPT,
    ),
    "picked by a list": ("def f(**kw):\n    hub = {n: kw.pop(n) for n in ['a', 'b'] if n in kw}\n", "a b", Rest.KEPT),
    "read by a computed name": ("def f(n, **kw):\n    return kw.pop(n)\n", "n", Rest.OPEN),
    "handed on as a bag": (
        "def f(**kw):\n    return g(kw)\ndef g(bag):\n    return bag.pop('inner')\n",
        "inner",
        Rest.OPEN,
    ),
    "typed": ("def f(**kw: Unpack[Options]):\n    pass\n", "typed", Rest.KEPT),
    "rebound": ("def f(**kw):\n    kw = clean(kw)\n    return closed(**kw)\n", "known other", Rest.OPEN),
    "imported inside": ("def f(**kw):\n    from other import far\n    return far(**kw)\n", "distant", Rest.CLOSED),
}


@pytest.mark.parametrize("case", CASES)
def test_names_are_followed(case: str, tmp_path: Path) -> None:
    text, known, rest = CASES[case]
    site = install(tmp_path, {"pack.py": PRELUDE + text, "other.py": "def far(distant): ...\n"})
    found = read(site, "pack.f")
    assert sorted(found.parameters) == sorted(known.split())
    assert found.rest is rest, found.why


CHAIN = """
from dataclasses import dataclass
class Root:
    def __init__(self, root=0): ...
class Mixin:
    def __init__(self, mixed=0, **kw):
        super().__init__(**kw)
class Child(Mixin, Root):
    def __init__(self, own, **kw):
        self.x = kw.pop("popped", None)
        super().__init__(mixed=1, **kw)
    @classmethod
    def load(cls, path, **kw):
        return cls(path, **kw)
    def again(self, **kw):
        return self.helper(**kw)
    def helper(self, inner, **kw):
        return Root.__init__(self, **kw)
class Alone(Mixin): ...
class Setting:
    declared: int = 1
    attribute_map = {"other": "declared"}
    def __init__(self, **kw):
        for key, value in kw.items():
            setattr(self, key, value)
    @property
    def heard(self): ...
    @heard.setter
    def heard(self, value): ...
class Loose(dict):
    def __init__(self, **kw):
        super().__init__(**kw)
@dataclass
class Data:
    field: int = 0
class Over(Data):
    def __init__(self, own, **kw):
        super().__init__(**kw)
class Hooked:
    def __init_subclass__(cls, **kw):
        cls = dataclass(cls, kw_only=True)
    def __post_init__(self, **kw):
        self.left = kw.pop("left", None)
        for key, value in kw.items():
            setattr(self, key, value)
class Config(Hooked):
    size: int = 3
"""


@pytest.mark.parametrize(
    ("callee", "known", "rest"),
    [
        ("Child", "own popped root", Rest.CLOSED),
        ("Child.load", "path popped root", Rest.CLOSED),
        ("Child.again", "inner root", Rest.CLOSED),
        ("Alone", "mixed", Rest.CLOSED),
        ("Setting", "declared attribute_map other heard", Rest.KEPT),
        ("Loose", "", Rest.OPEN),
        ("Over", "own field", Rest.CLOSED),
        ("Config", "size left", Rest.KEPT),
    ],
)
def test_classes_hand_names_to_their_bases(callee: str, known: str, rest: Rest, tmp_path: Path) -> None:
    found = read(install(tmp_path, {"pack.py": CHAIN}), f"pack.{callee}")
    assert sorted(found.parameters) == sorted(known.split())
    assert found.rest is rest, found.why
    if callee == "Child":
        assert found.parameters["root"].owner == "pack.Root"
