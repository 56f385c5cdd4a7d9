"""A function on a bench: called row by row with a configuration and a tokenizer that can be exchanged in between.

Source: cache key: the function that is followed is the user's own, whatever calls it.
Blind to: what a call leaves behind in the process; whoever compares outputs does so in children.
"""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from affidavit.attach.guard import describe
from affidavit.cache.compare import differing, plain

CONFIGS = ("config", "cfg", "conf", "settings", "options", "args", "params")
"""What the parameter that takes a configuration is usually called."""
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
Made = tuple[bool, Any]
"""Whether a row came out, and what; where it did not, the error."""


class Bench:
    """Calls ``function(row)``, or with a configuration or a tokenizer beside it, as its parameters ask for.

    Args:
        config: goes to the parameter of one of the usual names, or to the second one, or field by field to parameters
            of their names.
        tokenizer: goes to a parameter of that name.
        batched: whether the function takes columns of rows, as ``datasets`` hands them.
        masks: policies that are put on the labels of what it returns, as by :func:`affidavit.cache.encode`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        config: Any = None,
        tokenizer: Any = None,
        batched: bool = False,
        masks: Sequence[Any] = (),
    ) -> None:
        self.function, self.config, self.tokenizer, self.batched = function, config, tokenizer, batched
        self.masks = tuple(masks)
        self.call = self._calling()

    def _calling(self) -> Callable[[Any], Any]:
        function, bench = self.function, self
        parameters = _parameters(function, 1)

        def call(row: Any) -> Any:
            given = {name: [value] for name, value in row.items()} if bench.batched else row
            made = function(given, **_handed(parameters, bench.config, bench.tokenizer))
            made = list(made) if isinstance(made, Iterator) else made
            made = _only(made) if bench.batched else made
            return _masked(made, row, bench) if bench.masks else made

        call.__wrapped__ = function  # type: ignore[attr-defined]
        return call

    def measure(self, rows: Sequence[Any], memories: Sequence[Any] = ()) -> list[Made]:
        """Return what comes of each row, with every memory of the function emptied before."""
        for memory in memories:
            memory.cache_clear()
        made: list[Made] = []
        for row in rows:
            try:
                made.append((True, plain(self.call(copy.deepcopy(row)))))
            except Exception as error:  # noqa: BLE001  the user's code; what it raises is an answer
                made.append((False, describe(error)))
        return made


def _masked(made: Any, row: Any, bench: Bench) -> Any:
    from affidavit.cache.encoding.masks import Masker

    own = [made["labels"]] if "labels" in made else None
    labels = Masker(bench.masks, bench.tokenizer).labels([row["messages"]], [made["input_ids"]], own, row=0)
    return {**made, "labels": labels[0]}


def _only(made: Any) -> Any:
    """Return the one row of columns that hold one; columns that hold another number of rows as they are."""
    if not isinstance(made, Mapping) or any(
        not hasattr(column, "__len__") or len(column) != 1 for column in made.values()
    ):
        return made
    return {name: column[0] for name, column in made.items()}


def arguments(function: Callable[..., Any], config: Any, tokenizer: Any, *, after: int) -> dict[str, Any]:
    """Return what a function is handed by name, beside its first ``after`` parameters."""
    return _handed(_parameters(function, after), config, tokenizer)


def _parameters(function: Callable[..., Any], after: int) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function, follow_wrapped=True).parameters.values())[after:]
    except (TypeError, ValueError):  # native code, which shows none
        return []


def _handed(parameters: Sequence[inspect.Parameter], config: Any, tokenizer: Any) -> dict[str, Any]:
    named = {one.name: one for one in parameters if one.kind is not inspect.Parameter.POSITIONAL_ONLY}
    found = {"tokenizer": tokenizer} if "tokenizer" in named and tokenizer is not None else {}
    if config is None:
        return found
    fields = config if isinstance(config, Mapping) else getattr(config, "__dict__", {})
    name = _of_config(parameters)
    if name and (name in CONFIGS or name not in fields):
        return {**found, name: config}
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    return {**found, **{name: value for name, value in fields.items() if name in named or takes_any}}


def _of_config(parameters: Sequence[inspect.Parameter]) -> str:
    """Return the name of the parameter that takes a whole configuration, or "" where fields are taken one by one."""
    usual = next((one.name for one in parameters if one.name in CONFIGS and one.kind in _BY_PLACE), "")
    needed = [one for one in parameters if one.default is inspect.Parameter.empty and one.kind in _BY_PLACE]
    needed = [one for one in needed if one.name != "tokenizer"]
    return usual or (needed[0].name if len(needed) == 1 and needed[0] is parameters[0] else "")


def config_type(function: Callable[..., Any], *, after: int = 1) -> Any:
    """Return the type that is written at the parameter which takes the configuration, or None."""
    name = _of_config(_parameters(function, after))
    try:
        return typing.get_type_hints(inspect.unwrap(function)).get(name)
    except (NameError, TypeError, AttributeError, SyntaxError):  # it may name what is imported nowhere
        return None


def moved(before: Sequence[Made], after: Sequence[Made]) -> tuple[int, tuple[str, ...]] | None:
    """Return the first row that came out otherwise, and in which fields; a row that raises on a side says nothing."""
    for row, ((came, one), (comes, other)) in enumerate(zip(before, after)):
        if came and comes and (fields := differing(one, other)):
            return row, fields
    return None


def raised(before: Sequence[Made], after: Sequence[Made]) -> str:
    """Return the first error of a row that had come out, or ""."""
    return next((str(other) for (came, _), (comes, other) in zip(before, after) if came and not comes), "")
