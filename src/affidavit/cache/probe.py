"""The probe of a key: every input is moved, one at a time, and where the output moves the key has to move, too.

A key cannot be seen to be complete by reading it. Two keys of this world left out a mask that lay in a global, in a
file, in a variable; each of them looked complete.

Source: anchors-mechanisms C1: no tool was found that compares the movement of the output with that of the key.
Blind to: the code itself, defaults of parameters and captured variables; folders; two inputs that matter only together;
a file that native code opens by itself; a branch that no row takes and no value reaches.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.attach.guard import describe
from affidavit.cache.bench import Bench, Made, arguments, moved, raised
from affidavit.cache.compare import fingerprint, plain, spread
from affidavit.cache.inputs import Finder, Input, Setting
from affidavit.cache.isolated import isolated
from affidavit.cache.key import preimage_of
from affidavit.cache.nearby import Held
from affidavit.cache.preimage import canonical, digest_of
from affidavit.cache.probed import COVERED, FAULT, IRRELEVANT, OVER_KEYED, UNPROVEN, Found, Probe, sources_of
from affidavit.cache.reach import project_of, reach_of
from affidavit.cache.trace import trace
from affidavit.fact.errors import AffidavitError, refusal

ROWS = 64
"""Of the rows given so many are used for every input; the others are searched for a row on which it matters."""
SECONDS = 120.0
_SEARCHED = 256
_FRESH = 6
_KEYS = 4
_TRACED = 8
"""So many rows are traced for each key of ours that is asked; each row of a trace asks the system what is open."""
OURS = "ours"
"""The name of the key that :func:`preimage_of` makes."""


class ProbeRefusedError(AffidavitError):
    """The function or its key cannot be probed, so nothing is said of any input."""


def probe(
    function: Callable[..., Any],
    *,
    rows: Iterable[Any],
    config: Any = None,
    key: Callable[..., Any] | None = None,
    tokenizer: Any = None,
    artifacts: Iterable[str | Path] = (),
    witness: Mapping[str, Sequence[Any]] | None = None,
    irrelevant: Mapping[str, str] | None = None,
    batched: bool = False,
    project: str | Path | None = None,
    seconds: float = SECONDS,
) -> Probe:
    """Return what each input of ``function`` moves: its output, its key, both or neither.

    The function is called in children that can change nothing. Its module's globals and the environment are exchanged
    in this process while our own key is asked, and put back.

    Args:
        function: makes one row of one row; ``function(row)``, with a configuration or a tokenizer if it takes one.
        rows: the more kinds of rows there are, the more can be proved.
        config: of which every field is moved.
        key: the function that makes the key, of a configuration, its fields or nothing; ours where there is none.
        witness: values that are tried first, by the name of the input.
        irrelevant: name of an input → why it cannot move the output; that is probed, too.
        batched: whether the function takes columns of rows.

    Raises:
        KeyRefusedError: our key cannot be made, so nothing would be cached.
        ProbeRefusedError: no row comes out, or two of the same do not come out the same, or the key does not.
    """
    everything = list(rows)
    sample = [everything[at] for at in sorted(spread(len(everything), min(ROWS, len(everything))))]
    bench = Bench(function, config=config, tokenizer=tokenizer, batched=batched)
    place = Path(project) if project is not None else project_of(function)
    with tempfile.TemporaryDirectory(prefix="affidavit-probe-") as folder:
        one = _Probing(
            bench=bench,
            rows=sample,
            everything=everything,
            key=key,
            irrelevant=dict(irrelevant or {}),
            witness=dict(witness or {}),
            artifacts=tuple(artifacts),
            project=place,
            folder=Path(folder),
            deadline=time.monotonic() + seconds,
        )
        return one.run()


@dataclass
class _Probing:
    """One probe on its way. ``seconds`` end its children, and what was not reached by then is not proven."""

    bench: Bench
    rows: list[Any]
    everything: list[Any]
    key: Callable[..., Any] | None
    irrelevant: dict[str, str]
    witness: dict[str, Sequence[Any]]
    artifacts: tuple[str | Path, ...]
    project: Path
    folder: Path
    deadline: float
    memories: tuple[Any, ...] = ()
    traced: bool = False

    @property
    def left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.5)

    def run(self) -> Probe:
        begun = time.monotonic()
        if not self.rows:
            raise ProbeRefusedError(_refused("rows to call the function with", "none", "Give it some with --rows."))
        reach = reach_of(self.bench.call, self.project)
        self.memories = reach.memories
        self._steady()
        seen = trace(self.bench.call, self.rows[:ROWS], memories=self.memories, seconds=self.left)
        self._forbid(seen.problems)
        self.traced = bool(seen.files or seen.variables or seen.seeds_itself)
        held = Held.of(self.rows)
        finder = Finder(self.bench, reach, seen, held, self.project, self.folder, self.witness)
        inputs = finder.find()
        self._met(inputs)
        movements = self._outputs(inputs)
        keys = self._keys(inputs, movements)
        found = tuple(self._judge(one, movements[str(one)], keys[str(one)]) for one in inputs)
        own = {"key": self.key} if self.key is not None else {}
        return Probe(
            function=_called(self.bench.function),
            key=_called(self.key) if self.key is not None else OURS,
            found=found,
            rows=len(self.everything),
            sources=sources_of(self.project, self.bench.call, *own.values()),
            seconds=time.monotonic() - begun,
        )

    # --- what must hold before anything can be said -----------------------------------------------------------------

    def _steady(self) -> None:
        """Refuse a function that gives other rows the second time, or none at all."""

        def twice() -> dict[str, Any]:
            one = self.bench.measure(self.rows, self.memories)
            other = self.bench.measure(list(reversed(self.rows)), self.memories)[::-1]
            differs = moved(one, other)
            errors = [text for came, text in one if not came]
            return {"differs": differs[0] if differs else -1, "errors": errors[:1], "failed": len(errors)}

        result = isolated(twice, seconds=self.left)
        if result.ended != "done":
            self._forbid({"rows": f"it {result.ended}: {result.why}"})
        if result.value["failed"] == len(self.rows):
            saw = f"an error on each of {len(self.rows):,}: {result.value['errors'][0]}"
            raise ProbeRefusedError(_refused("rows that come out", saw, "Give it rows and a configuration it takes."))
        if result.value["differs"] >= 0:
            self._forbid({"result": f"row {result.value['differs']} came out otherwise the second time"})

    def _forbid(self, problems: Mapping[str, str]) -> None:
        """Refuse what a trace found: a function that draws has no output that could be told to have moved."""
        for subject, saw in problems.items():
            if subject != "environment":
                action = "Seed it from the row, or cache what is the same each time."
                raise ProbeRefusedError(_refused("the same output from the same input", saw, action))

    def _met(self, inputs: Sequence[Input]) -> None:
        names = {said for one in inputs for said in (one.name, str(one))}
        names |= {head for one in inputs for head in _heads(one.name)}
        unmet = [name for name in (*self.witness, *(self.irrelevant if self.key else ())) if name not in names]
        if unmet:
            saw = f"no input called {', '.join(unmet)}"
            known = ", ".join(sorted(one.name for one in inputs)) or "none"
            raise ProbeRefusedError(_refused(f"one of its inputs ({known[:300]})", saw, "Say a name that is there."))

    # --- movements ------------------------------------------------------------------------------------------------

    def _outputs(self, inputs: Sequence[Input]) -> dict[str, list[_Movement]]:
        """Return what each setting of each input makes of the output."""

        def work() -> Iterator[dict[str, Any]]:
            before = self.bench.measure(self.rows, self.memories)
            said: dict[str, Any] = {}
            for one in inputs:
                said[str(one)] = [self._movement(setting, before) for setting in one.settings]
                yield said

        result = isolated(work, seconds=self.left)
        said: dict[str, list[Any]] = result.value or {}
        if result.ended == "refused":
            self._forbid({"rows": f"it reached for {result.why}"})
        found = {str(one): [_Movement(*row) for row in said.get(str(one), ())] for one in inputs}
        fresh: list[str] | None = None
        for one in inputs:
            if not any(each.row >= 0 for each in found[str(one)]):
                fresh = self._fresh(None) if fresh is None else fresh
                self._again(one, found[str(one)], fresh)
                self._search(one, found[str(one)])
        return found

    def _movement(self, setting: Setting, before: Sequence[Made]) -> tuple[int, str, str]:
        after, error = self._within(setting, self.rows)
        if after is None:
            return -1, "", error
        found = moved(before, after)
        return (found[0], ", ".join(found[1])[:80], "") if found else (-1, "", raised(before, after))

    def _within(self, setting: Setting, rows: Sequence[Any]) -> tuple[list[Made] | None, str]:
        try:
            with setting.scope():
                return self.bench.measure(rows, self.memories), ""
        except Exception as error:  # noqa: BLE001  a class of the user's refuses the value
            return None, describe(error)

    def _again(self, one: Input, movements: list[_Movement], before: list[str]) -> None:
        """Ask an input that moved nothing again, each time in a process that was never asked before.

        A function that remembers its rows gives the first answer to every later question.
        """
        for place, setting in enumerate(one.settings[:_FRESH]):
            if place >= len(movements) or time.monotonic() > self.deadline:
                return
            after = self._fresh(setting)
            rows = [row for row, (old, new) in enumerate(zip(before, after)) if old and new and old != new]
            if rows:
                movements[place] = _Movement(rows[0], "", "")

    def _fresh(self, setting: Setting | None) -> list[str]:
        def work() -> list[str]:
            made = self.bench.measure(self.rows) if setting is None else self._within(setting, self.rows)[0]
            return [fingerprint(value) if came else "" for came, value in made or ()]

        return isolated(work, seconds=self.left).value or []

    def _search(self, one: Input, movements: list[_Movement]) -> None:
        """Look among all rows for one on which an input matters."""
        rest = self.everything
        if len(rest) <= len(self.rows) or not movements:
            return

        def work() -> Iterator[list[Any]]:
            for begin in range(0, len(rest), _SEARCHED):
                rows = rest[begin : begin + _SEARCHED]
                before = self.bench.measure(rows)
                for place, setting in enumerate(one.settings[: len(movements)]):
                    found = moved(before, self._within(setting, rows)[0] or ())
                    if found:
                        yield [place, begin + found[0], ", ".join(found[1])[:80]]
                        return

        found = isolated(work, seconds=self.left).value
        if found:
            place, row, fields = found
            movements[place] = _Movement(row, fields, "", whole=True)

    # --- keys -----------------------------------------------------------------------------------------------------

    def _keys(self, inputs: Sequence[Input], movements: Mapping[str, list[_Movement]]) -> dict[str, dict[int, bool]]:
        """Return for each input whether the key moves with its settings: those that moved the output, and some more."""
        asked: dict[str, list[int]] = {}
        for one in inputs:
            told = movements[str(one)]
            moving = [place for place, each in enumerate(told) if each.row >= 0][:_KEYS]
            others = [place for place in range(len(one.settings)) if place not in moving][:_KEYS]
            asked[str(one)] = moving + others
        return self._own_keys(inputs, asked) if self.key is None else self._their_keys(inputs, asked)

    def _own_keys(self, inputs: Sequence[Input], asked: Mapping[str, list[int]]) -> dict[str, dict[int, bool]]:
        """Ask our own key, as it is asked by whoever caches. Of a file it counts the content, whatever that is."""
        before = self._preimage()
        parts = {(part.kind, part.name) for part in before.parts}
        found: dict[str, dict[int, bool]] = {}
        for one in inputs:
            moves = found.setdefault(str(one), {})
            for place in asked[str(one)]:
                if time.monotonic() > self.deadline:
                    return {**{str(each): {} for each in inputs}, **found}
                if one.kind == "file":
                    moves[place] = not {("file", one.name), ("artifact", one.name)}.isdisjoint(parts)
                    continue
                try:
                    with one.settings[place].scope():
                        moves[place] = self._preimage().digest != before.digest
                except Exception:  # noqa: BLE001  refused by the key or by the user's class: nothing is cached then
                    moves[place] = True
        return found

    def _preimage(self) -> Any:
        return preimage_of(
            self.bench.call,
            config=self.bench.config,
            tokenizer=self.bench.tokenizer,
            artifacts=self.artifacts,
            irrelevant=self.irrelevant,
            rows=self.rows[:_TRACED] if self.traced else None,
            project=self.project,
        )

    def _their_keys(self, inputs: Sequence[Input], asked: Mapping[str, list[int]]) -> dict[str, dict[int, bool]]:
        def work() -> Iterator[dict[str, Any]]:
            before = self._their_key()
            yield {"same": before == self._their_key(), "moves": {}}
            moves: dict[str, list[list[Any]]] = {}
            for one in inputs:
                rows = moves.setdefault(str(one), [])
                for place in asked[str(one)]:
                    after = None
                    with suppress(Exception), one.settings[place].scope():
                        after = self._their_key()
                    rows.append([place, after != before])
                yield {"same": before == self._their_key(), "moves": moves}

        result = isolated(work, seconds=self.left)
        if result.ended not in ("done", "time limit") or result.value is None:
            saw = f"it {result.ended}: {result.why}"
            raise ProbeRefusedError(_refused("a key", saw, "Give the probe a configuration from which it is made."))
        if not result.value["same"]:
            saw = "another key where nothing had changed"
            raise ProbeRefusedError(_refused("one key of one input", saw, "A key that moves by itself never hits."))
        moves = result.value["moves"]
        return {str(one): {place: bool(told) for place, told in moves.get(str(one), ())} for one in inputs}

    def _their_key(self) -> str:
        assert self.key is not None
        made = self.key(**_handed(self.key, self.bench.config, self.bench.tokenizer))
        return digest_of(canonical(json.loads(json.dumps(plain(made), default=repr))))

    # --- the verdict ----------------------------------------------------------------------------------------------

    def _judge(self, one: Input, movements: Sequence[_Movement], keys: Mapping[int, bool]) -> Found:
        moving = [place for place, each in enumerate(movements) if each.row >= 0 and place in keys]
        missed = [place for place in moving if not keys[place]]
        reason = next((self.irrelevant[said] for said in _said(one) if said in self.irrelevant), "")
        errors = [each.error for each in movements if each.error]
        covers = bool(keys) and all(keys.values())
        if missed:
            verdict, place = FAULT, missed[0]
        elif moving:
            verdict, place = COVERED, moving[0]
        elif reason:
            verdict, place = IRRELEVANT, -1
        elif covers:
            verdict, place = (COVERED if errors else OVER_KEYED), -1
        else:
            verdict, place = UNPROVEN, -1
        row, fields = (movements[place].row, movements[place].fields) if place >= 0 else (-1, "")
        return Found(
            verdict=verdict,
            kind=one.kind,
            name=one.name,
            change=one.settings[place].says if place >= 0 else "",
            row=row if row < 0 or movements[place].whole else self._number(row),
            fields=fields,
            tried=len(movements),
            why=reason if verdict in (IRRELEVANT, FAULT) and reason else self._why(verdict, one, errors),
        )

    def _number(self, row: int) -> int:
        """Return the number among all rows of a row of the sample."""
        return sorted(spread(len(self.everything), len(self.rows)))[row]

    def _why(self, verdict: str, one: Input, errors: Sequence[str]) -> str:
        rows = f"{len(self.everything):,} rows"
        if verdict == OVER_KEYED:
            return f"on none of {rows} did the output move"
        if verdict != UNPROVEN:
            return ""
        if not one.settings:
            return f"no other value can be made of a {type(one.now).__name__}; give one as witness"
        if errors:
            return f"every value that could matter is refused ({errors[0]}); give one as witness"
        lacking = _lacking(one.now, self.everything)
        if lacking:
            return f"no row of {len(self.everything):,} holds {lacking}; give one that does"
        return f"on none of {rows} did the output move; give a row on which it matters, or a value as witness"


@dataclass(frozen=True)
class _Movement:
    """What one setting did: the first row that moved, or -1; ``whole`` where it counts among all rows."""

    row: int
    fields: str
    error: str
    whole: bool = False


def _said(one: Input) -> Iterator[str]:
    yield from (one.name, str(one), *_heads(one.name))


def _heads(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _lacking(value: Any, rows: Sequence[Any]) -> str:
    """Return which texts of a collection no row holds: what it does cannot be seen on these rows."""
    if not isinstance(value, (list, tuple, set, frozenset, dict)):
        return ""
    wanted = [each for each in value if isinstance(each, str) and each.strip()]
    if not wanted:
        return ""
    text = json.dumps([plain(row) for row in rows], default=repr, ensure_ascii=False).lower()
    missing = sorted(each for each in wanted if each.lower() not in text)
    return " or ".join(repr(each) for each in missing[:3]) if missing else ""


def _handed(key: Callable[..., Any], config: Any, tokenizer: Any) -> dict[str, Any]:
    return arguments(key, config, tokenizer, after=0)


def _called(function: Any) -> str:
    inner = function
    while hasattr(inner, "func") or hasattr(inner, "__func__"):
        inner = getattr(inner, "func", None) or inner.__func__
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return f"{getattr(inner, '__module__', None) or type(inner).__module__}:{name}"


def _refused(expected: str, saw: str, action: str) -> str:
    return refusal(
        subject="cache probe",
        expected=expected,
        saw=saw,
        means="Nothing can be said of any input.",
        action=action,
        unaffected="what is cached",
    )
