"""What a library says against its own names: in the name's own place, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from installation import install, read

from affidavit.names.signature import Rest

TEXT = '''
import functools, warnings
from dataclasses import dataclass, field

@dataclass
class Options:
    """
    Args:
        plain (`int`):
            How many. The value `"old"` is deprecated and will be removed.
        listed (`int`, *optional*):
            Parameter `listed` is deprecated and will be removed in version 2. Use `plain`.
        near (`int`):
            Replaces `listed`, which is deprecated.
    """
    plain: int = 0
    listed: int = 0
    near: int = 0
    helped: int = field(default=0, metadata={"help": "Deprecated. Use `plain` instead."})
    valued: str = field(default="", metadata={"help": "`'keep'` is deprecated; this is `plain`."})
    warned: int = 0
    def __post_init__(self):
        if self.warned:
            warnings.warn("`--warned` is deprecated and will be removed in 3. " "Use `plain`.", FutureWarning)
        if self.plain == 3:
            warnings.warn("`plain=3` is deprecated.")

def keeps(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner

def keeps_self(fn):
    @functools.wraps(fn)
    def inner(self, *args, **kwargs):
        return fn(self, *args, **kwargs)
    return inner

def registers(fn):
    table.append(fn)
    return fn

def filters(fn):
    def inner(*args, **kwargs):
        kwargs.pop("x", None)
        return fn(*args, **kwargs)
    return inner

def swaps(cls):
    cls.__init__ = something
    return cls

def marks(**told):
    def inner(cls):
        cls.__doc__ = "x"
        return cls
    return inner

class Trainer:
    @deprecate_kwarg("tokenizer", version="5.0.0", new_name="processing_class")
    def __init__(self, model, processing_class=None): ...
    @keeps
    def one(self, a): ...
    @keeps_self
    def two(self, a): ...
    @registers
    def three(self, a): ...
    @filters
    def four(self, a): ...
    @nowhere.to_be_found
    def five(self, a): ...
    @staticmethod
    @torch.no_grad()
    def six(a): ...

@swaps
class Swapped:
    def __init__(self, a): ...

@marks(kind=1)
class Marked:
    def __init__(self, a): ...
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return install(tmp_path, {"pack.py": TEXT})


def test_a_name_is_deprecated_where_its_own_place_says_so(site: Path) -> None:
    said = {name: one.deprecated for name, one in read(site, "pack.Options").parameters.items() if one.deprecated}
    assert said == {
        "listed": "Parameter `listed` is deprecated and will be removed in version 2. Use `plain`.",
        "helped": "Deprecated. Use `plain` instead.",
        "warned": "`--warned` is deprecated and will be removed in 3. Use `plain`.",
    }


def test_an_old_name_that_a_decorator_takes_is_known_and_deprecated(site: Path) -> None:
    found = read(site, "pack.Trainer")
    assert set(found.parameters) == {"model", "processing_class", "tokenizer"}
    assert found.parameters["tokenizer"].deprecated == "deprecated, removed in 5.0.0; now processing_class"
    assert found.rest is Rest.CLOSED


@pytest.mark.parametrize("callee", ["Trainer.one", "Trainer.two", "Trainer.three", "Trainer.six", "Marked"])
def test_a_decorator_that_hands_on_everything_changes_nothing(callee: str, site: Path) -> None:
    assert read(site, f"pack.{callee}").rest is Rest.CLOSED


@pytest.mark.parametrize("callee", ["Trainer.four", "Trainer.five", "Swapped"])
def test_a_decorator_that_nobody_can_follow_refuses_nothing(callee: str, site: Path) -> None:
    found = read(site, f"pack.{callee}")
    assert set(found.parameters) == {"a"}
    assert found.rest is Rest.OPEN
    assert found.why
