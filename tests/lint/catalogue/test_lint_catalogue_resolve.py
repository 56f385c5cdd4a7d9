"""Where a dotted name leads: every way in which packages hand their names on."""

from __future__ import annotations

from pathlib import Path

import pytest
from installation import install, names, read

from affidavit.lint.catalogue import Catalogue, Missing
from affidavit.names.signature import Rest

DEEP = "class Thing:\n    def __init__(self, alpha, beta=2): ...\n"
LAZY = """
from typing import TYPE_CHECKING
_import_structure = {"deep": []}
try:
    import nothing
except ImportError:
    pass
else:
    pass
_import_structure["deep"] = ["Other"]
_import_structure["deep"].append("Thing")
"""

WAYS = {
    "plain import": {"pack/__init__.py": "from .deep import Thing\n", "pack/deep.py": DEEP},
    "under another name": {
        "pack/__init__.py": "from .deep import Hidden as Thing\n",
        "pack/deep.py": DEEP.replace("Thing", "Hidden"),
    },
    "absolute": {"pack/__init__.py": "import pack.deep\nThing = pack.deep.Thing\n", "pack/deep.py": DEEP},
    "only for checkers": {
        "pack/__init__.py": "if TYPE_CHECKING:\n    from .deep import Thing\nelse:\n    x = 1\n",
        "pack/deep.py": DEEP,
    },
    "a lazy structure": {"pack/__init__.py": LAZY, "pack/deep.py": DEEP},
    "a literal structure": {"pack/__init__.py": '_import_structure = {"deep": ["Thing"]}\n', "pack/deep.py": DEEP},
    "a structure of structures": {
        "pack/__init__.py": '_import_structure = {"sub": ["Thing"]}\n',
        "pack/sub/__init__.py": '_import_structure = {"deep": ["Thing"]}\n',
        "pack/sub/deep.py": DEEP,
    },
    "everything": {"pack/__init__.py": "from .deep import *\n", "pack/deep.py": DEEP},
    "everything of everything": {
        "pack/__init__.py": "from .sub import *\n",
        "pack/sub/__init__.py": "from .deep import *\n",
        "pack/sub/deep.py": f'__all__ = ["Thing"]\n{DEEP}',
    },
    "a structure that is looked for": {
        "pack/__init__.py": "from .models import *\n",
        "pack/models/__init__.py": "x = define_import_structure(__file__)\n",
        "pack/models/a/__init__.py": "",
        "pack/models/a/deep.py": f'{DEEP}\n__all__ = ["Thing"]\n',
    },
    "an alias": {"pack/__init__.py": f"{DEEP.replace('Thing', 'Old')}\nThing = Old\n"},
    "tried first": {
        "pack/__init__.py": "try:\n    from .deep import Thing\nexcept ImportError:\n    Thing = None\n",
        "pack/deep.py": DEEP,
    },
    "tried in vain": {
        "pack/__init__.py": "try:\n    from absent import Thing\nexcept ImportError:\n    from .deep import Thing\n",
        "pack/deep.py": DEEP,
    },
    "updated": {"pack/__init__.py": f"{DEEP}\nThing = auto_class_update(Thing, head='x')\n"},
    "guarded": {"pack/__init__.py": "if is_torch_available():\n    from .deep import Thing\n", "pack/deep.py": DEEP},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_name_is_followed_to_where_it_is_defined(way: str, tmp_path: Path) -> None:
    found = read(install(tmp_path, WAYS[way]), "pack.Thing")
    assert list(found.parameters) == ["alpha", "beta"]
    assert found.rest is Rest.CLOSED
    assert found.package == "pack 1.0"
    assert found.parameters["beta"].default == "2"
    assert found.parameters["alpha"].default == ""


def test_what_branches_define_differently_takes_the_names_of_all(tmp_path: Path) -> None:
    site = install(
        tmp_path, {"pack.py": "if new:\n    def make(a): ...\nelse:\n    def make(b, **rest): return f(rest)\n"}
    )
    found = read(site, "pack.make")
    assert set(found.parameters) == {"a", "b"}
    assert found.rest is Rest.OPEN


CLASSES = """
import functools, enum
from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import ClassVar, NamedTuple, TypedDict, overload

class Root:
    def __init__(self, first, *, second=None): ...
    @classmethod
    def load(cls, path, *, strict=True): ...
    @staticmethod
    def check(path): ...
    def step(self, loss, /, scale=1.0): ...
    alias = step

class Below(Root): ...

class Left(Root):
    def __init__(self, left): ...

class Both(Below, Left): ...

@dataclass
class Base:
    a: int
    hidden: int = field(default=0, init=False)
    b: list[int] = field(default_factory=list)
    shared: ClassVar[int] = 3

@dataclass
class Derived(Base):
    a: int = 5
    _: KW_ONLY
    c: "str" = field(default="x", metadata={"help": "text"})
    seed: InitVar[int] = 0
    d: dict = field(default_factory=lambda: {"k": 1})

class Plain(Derived):
    ignored: int = 1

@dataclass
class Written(Base):
    own: int = 1
    def __init__(self, mine): ...

class Made:
    def __new__(cls, size, **options): ...

class Row(NamedTuple):
    x: int
    y: int = 2

class Bag(TypedDict, total=False):
    k: int

class Kind(enum.Enum):
    ONE = 1

class Meta(type):
    def __call__(cls, *args, **kwargs): ...

class Strange(metaclass=Meta):
    def __init__(self, a): ...

class Foreign(absent.Base): ...

@dataclass
class Half(absent.Base):
    known: int = 0

class Hooking:
    def __init_subclass__(cls):
        cls.__init__ = wrap(cls.__init__)

class Hooked(Hooking):
    def __init__(self, a): ...

class Setting(type):
    def __setattr__(cls, name, value): ...

class Wrapped(metaclass=Setting):
    def __init__(self, a): ...

class Twice:
    if new:
        def __init__(self, a): ...
    else:
        def __init__(self, b): ...
    @property
    def value(self): ...

def define(cls):
    return Builder(cls).build()

@define
class Defined:
    size: int

Late = wrap(Root)

@overload
def over(x: int): ...
@overload
def over(x: str, y: int): ...
def over(x, y=None, z=None): ...

Pair = namedtuple("Pair", "left right")
half = functools.partial(over, 1, z=3)
"""


@pytest.mark.parametrize(
    ("callee", "expected"),
    [
        ("Root", ["first", "second"]),
        ("Below", ["first", "second"]),
        ("Both", ["left"]),
        ("Derived", ["a", "b", "c", "seed", "d"]),
        ("Plain", ["a", "b", "c", "seed", "d"]),
        ("Written", ["mine"]),
        ("Row", ["x", "y"]),
        ("Bag", ["k"]),
        ("over", ["x", "y", "z"]),
        ("half", ["y", "z"]),
        ("Pair", ["left", "right"]),
        ("Below.load", ["path", "strict"]),
        ("Below.check", ["path"]),
        ("Root.step", ["scale"]),
        ("Root.alias", ["scale"]),
    ],
)
def test_every_kind_of_callable_has_its_names(callee: str, expected: list[str], tmp_path: Path) -> None:
    site = install(tmp_path, {"pack.py": CLASSES})
    assert names(site, f"pack.{callee}") == expected
    assert read(site, f"pack.{callee}").rest is Rest.CLOSED


def test_the_defaults_of_a_dataclass_are_those_that_hold(tmp_path: Path) -> None:
    found = read(install(tmp_path, {"pack.py": CLASSES}), "pack.Derived").parameters
    assert {name: one.default for name, one in found.items()} == {
        "a": "5",
        "b": "list()",
        "c": "'x'",
        "seed": "0",
        "d": "{'k': 1}",
    }
    assert found["b"].owner == "pack.Base"


@pytest.mark.parametrize(
    "callee",
    [
        *("Kind", "Strange", "Foreign", "Made", "Half", "Hooked", "Wrapped", "Twice", "Defined"),
    ],
)
def test_what_is_made_otherwise_refuses_no_name(callee: str, tmp_path: Path) -> None:
    found = read(install(tmp_path, {"pack.py": CLASSES}), f"pack.{callee}")
    assert found.rest is not Rest.CLOSED
    assert found.why


@pytest.mark.parametrize("callee", ["Twice.value", "Late"])
def test_what_is_a_value_is_no_callable_of_known_names(callee: str, tmp_path: Path) -> None:
    found = Catalogue([install(tmp_path, {"pack.py": CLASSES})], None).find(f"pack.{callee}")
    assert isinstance(found, Missing)
    assert not found.is_proved


def test_a_name_that_is_not_there_is_missing_and_says_why(tmp_path: Path) -> None:
    site = install(
        tmp_path,
        {"pack/__init__.py": CLASSES, "lazy/__init__.py": "def __getattr__(name): ...\n", "pack/broken.py": "def (:\n"},
    )
    catalogue = Catalogue([site], None)
    assert catalogue.find("absent.Thing") == Missing(
        why="no installed package has a module absent", package_absent=True
    )
    assert catalogue.find("pack.Thing") == Missing(
        why="pack of pack 1.0 has no Thing", package_absent=False, is_proved=True
    )
    assert catalogue.find("pack.Root.nothing") == Missing(
        why="pack.Root of pack 1.0 has no nothing", package_absent=False, is_proved=True
    )
    assert catalogue.find("lazy.Thing") == Missing(why="lazy of lazy 1.0 has no Thing", package_absent=False)
    assert isinstance(catalogue.find("pack.broken.f"), Missing)
    assert catalogue.find("argparse.ArgumentParser") == Missing(why="argparse is part of Python", package_absent=False)
    assert isinstance(catalogue.find("pack"), Missing)


def test_circles_end(tmp_path: Path) -> None:
    site = install(
        tmp_path,
        {
            "pack/__init__.py": "from .a import f\nfrom .b import C\n",
            "pack/a.py": "from .b import f\ndef g(**kw): return h(**kw)\ndef h(**kw): return g(**kw)\n",
            "pack/b.py": "from .a import f, g\nclass C(C): ...\nclass D(E): ...\nclass E(D): ...\n",
        },
    )
    catalogue = Catalogue([site], None)
    assert isinstance(catalogue.find("pack.f"), Missing)
    assert read(site, "pack.a.g").rest is Rest.OPEN
    for callee in ("pack.C", "pack.b.D", "pack.b.g"):
        catalogue.find(callee)
