"""The form of what is known of earlier versions: which callables a row speaks of, since when, and who said so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Family:
    """Callables by their dotted names, as they are imported or where they are defined."""

    patterns: tuple[str, ...]
    excluded: tuple[str, ...] = ()

    def has(self, callee: str) -> bool:
        """Say whether a callable is one of them."""
        return any(fnmatchcase(callee, one) for one in self.patterns) and not any(
            fnmatchcase(callee, one) for one in self.excluded
        )


@dataclass(frozen=True)
class Gone:
    """A name that was taken once.

    ``since`` is the first version looked at that no longer takes it, ``now`` what takes its place: a name, or a few
    words with the name in them; "" where nothing does.
    """

    family: Family
    name: str
    package: str
    since: str
    now: str = ""
    source: str = ""

    def said(self) -> str:
        """Return it as a person reads it."""
        gone = f"removed by {self.package} {self.since}" if self.since else f"not taken by {self.package}"
        return f"{gone}; now {self.now}" if self.now else gone


@dataclass(frozen=True)
class Semantic:
    """The same name, or its absence, and another meaning.

    Args:
        callee: the callables it is about.
        name: the name whose meaning moved.
        since: the first version with the new meaning; ``was`` and ``now`` say both.
        applies: ``given``, ``left`` (to its default), or ``share`` (given as a fraction, at most 1).
        unless: names that settle it where they are given too.
    """

    callee: Family
    name: str
    package: str
    since: str
    was: str
    now: str
    applies: str
    source: str
    unless: tuple[str, ...] = ()

    def is_met(self, given: Mapping[str, str]) -> bool:
        """Say whether a call means something else by it; ``given`` are its names with the source text of literals."""
        if any(name in given for name in self.unless):
            return False
        if self.applies == "left":
            return self.name not in given
        return self.name in given and (self.applies == "given" or _is_share(given[self.name]))

    def said(self) -> str:
        """Return it as a person reads it."""
        return f"{self.was} before {self.package} {self.since}, from then on {self.now}"


def _is_share(value: str) -> bool:
    """Say whether a literal is a fraction, 1.0 included and 1 not."""
    return bool(re.fullmatch(r"0?\.\d+|1\.0*", value))


def order(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare; what follows the numbers (``rc1``, ``+cpu``) is left out."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


ARGUMENTS = Family(("transformers.*TrainingArguments", "trl.*Config"), ("trl.*ModelConfig", "trl.*GenerationConfig"))
"""``TrainingArguments`` and all that derive from it, those of TRL included."""
TRAINERS = Family(("transformers.*Trainer", "trl.*Trainer"))
MODELS = Family(
    ("transformers.*.from_pretrained", "trl.*.from_pretrained", "peft.AutoPeft*.from_pretrained"),
    ("*Tokenizer*.from_pretrained", "*Processor*.from_pretrained", "*Config*.from_pretrained", "*Extractor*"),
)
"""Whatever loads a model's weights by a path."""
TOKENIZERS = Family(("transformers.*Tokenizer*.from_pretrained",))
LOADERS = Family(("transformers.*.from_pretrained", "trl.*.from_pretrained", "peft.*.from_pretrained"))
TEMPLATES = Family(("transformers.*.apply_chat_template",), ("*Processor*",))
