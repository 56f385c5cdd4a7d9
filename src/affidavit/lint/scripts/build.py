"""A parser while the script is still adding to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from affidavit.lint.scripts.reading import Option, Parse, Parser, Target
from affidavit.lint.scripts.value import Value


@dataclass(eq=False)
class Build:
    """What is known of one parser so far.

    Args:
        whole: its result went somewhere as a whole: every field may be read there.
        returned: functions that returned its result to callers that were not followed.
        sure: options whose ``dest`` is certain and that every result has.
        removed: attributes deleted from the result.
        filled: what it makes of its targets, in their order.
        allow_abbrev: it takes options by their beginning.
        has_leftover, uses_leftover: a rest was asked for; somebody looked at it.
    """

    path: Path
    line: int
    kind: str
    targets: list[Target] = field(default_factory=list)
    filled: tuple[Value, ...] = ()
    options: list[Option] = field(default_factory=list)
    lenient: str = ""
    why_open: str = ""
    parses: list[Parse] = field(default_factory=list)
    whole: bool = False
    returned: set[str] = field(default_factory=set)
    sure: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    allow_abbrev: bool = True
    has_leftover: str = ""
    uses_leftover: bool = False

    def add(self, option: Option) -> None:
        """Add an option once, however often the code that adds it is walked."""
        if option not in self.options:
            self.options.append(option)

    def parsed(self, parse: Parse) -> None:
        """Note a place that parses, once."""
        if parse not in self.parses:
            self.parses.append(parse)

    def open(self, why: str) -> None:
        """Note the first reason why it may take more."""
        self.why_open = self.why_open or why

    def finish(self) -> Parser:
        """Return what is known."""
        lenient = self.lenient
        if not lenient and self.has_leftover and not self.uses_leftover:
            lenient = f"{self.has_leftover}, whose rest is dropped"
        return Parser(
            path=self.path,
            line=self.line,
            kind=self.kind,
            targets=tuple(self.targets),
            options=tuple(self.options),
            lenient=lenient,
            why_open=self.why_open,
            parses=tuple(self.parses),
            allow_abbrev=self.allow_abbrev,
        )
