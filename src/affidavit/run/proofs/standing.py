"""How every instrument of a project stands: proved on the code that is here, or why not; what is due is proved now.

Source: playbook §4.6. Blind to: instruments that nobody declared and no ledger names.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from affidavit.case import InertSabotageError
from affidavit.check.digest import digest_of
from affidavit.check.drill import DrillRefusedError, drill
from affidavit.check.rule import Check
from affidavit.fact import VERSION
from affidavit.fact import folder as names
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Table
from affidavit.record import ledger
from affidavit.record.declared import Gate
from affidavit.record.ledger import Drilled, Instrument, Ledger
from affidavit.record.record import Fact
from affidavit.run.proofs import files, gates, guards
from affidavit.run.proofs.copied import installed_from
from affidavit.settings import Settings

PROOFS, ANSWERS = "instruments.proofs", "gates.answers"
PROOF_COLUMNS = ("kind", "name", "word", "date", "why")
ANSWER_COLUMNS = ("gate", "code", "seconds", "why")
CHECK, WATCH, OBSERVER = "check", "watch", "observer"
UNPROVED, WEAK = "UNPROVED", "WEAK"
QUICK_SECONDS = 5.0
"""What was proved in less is proved again as soon as it is due."""
PYTEST_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One instrument: PROVED, WEAK, INERT, NOT-REACHED, or UNPROVED and why; the day of its last proof, if any."""

    kind: str
    name: str
    word: str
    date: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """How much may be done to find out: nothing but reading, or proving what is due, and asking gates.

    Args:
        as_of: the day on which proofs must hold.
        verb: for which the gates are asked: ``preflight``, ``run``, or "" for none.
        proves: whether what is due is proved now, and written into the ledger.
        python: of the command; None where none is known.
    """

    as_of: datetime.date
    verb: str = ""
    proves: bool = False
    python: Path | None = None
    say: Callable[[str], None] = field(default=lambda said: None)


def standing_facts(
    settings: Settings, checks: Sequence[Check], environment: Mapping[str, str], inquiry: Inquiry
) -> tuple[Fact, ...]:
    """Return the facts of how instruments stand, and of what the gates say; what is due was proved before."""
    look = _Look(settings, environment, inquiry)
    rows = tuple(look.rows(checks))
    answers = tuple(look.answers())
    proofs = Table(PROOF_COLUMNS, tuple((row.kind, row.name, row.word, row.date, row.why) for row in rows))
    told = f"{names.LEDGER}, and the code that is here"
    return (
        Fact(name=PROOFS, state=Known(proofs, Method.INSPECTED, told)),
        Fact(name=ANSWERS, state=Known(Table(ANSWER_COLUMNS, answers), Method.EXECUTED, "asked before the command")),
    )


def doubts(settings: Settings, checks: Sequence[Check], lines: Ledger, as_of: datetime.date) -> dict[str, str]:
    """Return why the last drill of a check no longer proves it, for each of which it does not."""
    found: dict[str, str] = {}
    for check in checks:
        last = lines.last(check.id, as_of)
        if last is not None and (why := last.doubt(digest_of(check), as_of=as_of, days=settings.proof_days)):
            found[check.id] = why
    return found


def drill_checks(checks: Sequence[Check], as_of: datetime.date) -> Iterator[Drilled]:
    """Yield a line of the ledger for each check, broken on its own example; what cannot be broken has caught none."""
    for check in checks:
        assert check.example is not None
        try:
            proofs = drill(check, check.example()).proofs
        except (DrillRefusedError, InertSabotageError):
            proofs = ()
        caught = sum(proof.caught for proof in proofs)
        yield Drilled(
            check=check.id,
            date=as_of,
            caught=caught,
            total=len(proofs),
            affidavit=VERSION,
            code=digest_of(check),
        )


def gate_line(gate: Gate, proved: gates.Proved, root: Path, as_of: datetime.date) -> Instrument:
    """Return the line of the ledger for one proof of a gate."""
    return Instrument(
        kind=gates.KIND,
        name=gate.name,
        date=as_of,
        caught=int(proved.word == gates.PROVED),
        total=1,
        affidavit=VERSION,
        word=proved.word,
        on=gates.hangs_on(gate, root),
        says=proved.why,
        seconds=round(proved.seconds, 3),
    )


class _Look:
    def __init__(self, settings: Settings, environment: Mapping[str, str], inquiry: Inquiry) -> None:
        self.settings, self.environment, self.inquiry = settings, environment, inquiry
        self.root = settings.root
        self.path = self.root / names.LEDGER
        self.lines = ledger.read(self.path)
        self.own: tuple[Path, ...] | None = None

    def rows(self, checks: Sequence[Check]) -> Iterator[Row]:
        yield from self._checks(checks)
        yield from self._guards()
        for gate in self.settings.gates:
            yield self._gate(gate)
        yield from self._others()

    def answers(self) -> Iterator[tuple[str, int, float, str]]:
        asked = {"": (), "run": ("run",)}.get(self.inquiry.verb, ("run", "preflight"))
        for gate in self.settings.gates:
            if gate.when in asked:
                self.inquiry.say(f"asking {gate.name}")
                said = gates.answer(gate, self.root, self.environment)
                yield gate.name, -1 if said.unrun else said.code, round(said.seconds, 3), said.why

    def _write(self, lines: Sequence[Drilled | Instrument]) -> None:
        ledger.append(self.path, lines)

    def _checks(self, checks: Sequence[Check]) -> Iterator[Row]:
        """Prove the checks that are due, and yield one line for each that missed what it must catch."""
        if self.inquiry.proves:
            due = [one for one in checks if self._is_due(one)]
            drilled = tuple(drill_checks(due, self.inquiry.as_of))
            if drilled:
                self._write(drilled)
                self.lines = replace(self.lines, drills=(*self.lines.drills, *drilled))
        for check in checks:
            line = self.lines.last(check.id, self.inquiry.as_of)
            if line is not None and not line.is_proof and line.code == digest_of(check):
                yield Row(kind=CHECK, name=check.id, word=gates.INERT, date=str(line.date), why=_count(line))

    def _is_due(self, check: Check) -> bool:
        line = self.lines.last(check.id, self.inquiry.as_of)
        code = digest_of(check)
        if line is None or not line.code:
            return True
        return bool(line.doubt(code, as_of=self.inquiry.as_of, days=self.settings.proof_days))

    def _gate(self, gate: Gate) -> Row:
        on = gates.hangs_on(gate, self.root)
        line = self.lines.last_of(gates.KIND, gate.name, self.inquiry.as_of)
        why = self._doubt(line, on)
        is_due = bool(why) or (line is not None and line.word == gates.ERROR)
        if is_due and self.inquiry.proves and (line is None or line.seconds < QUICK_SECONDS):
            self.inquiry.say(f"proving {gate.name}")
            proved = gates.prove(gate, self.root, self.environment, own=self._own(), most_seconds=QUICK_SECONDS)
            found = gate_line(gate, proved, self.root, self.inquiry.as_of)
            if proved.word != gates.ERROR:
                self._write([found])
            line, why = found, ""
        if line is None or why:
            return Row(kind=gates.KIND, name=gate.name, word=UNPROVED, date=_day(line), why=why)
        word = UNPROVED if line.word == gates.ERROR else line.word
        return Row(kind=gates.KIND, name=gate.name, word=word, date=_day(line), why=line.says)

    def _own(self) -> tuple[Path, ...]:
        if self.own is None:
            self.own = installed_from(self.root, self.inquiry.python, self.environment)
        return self.own

    def _guards(self) -> Iterator[Row]:
        found = guards.declared(self.root, files.named(self.root))
        standing = {one.name: (one, guards.held(one, self.lines, self.inquiry.as_of)) for one in found}
        due = [
            one
            for one, line in standing.values()
            if line is not None and line.seconds < QUICK_SECONDS and self._doubt(line, one.on)
        ]
        proved: dict[str, Instrument] = {}
        unended = ""
        if due and self.inquiry.proves and self.inquiry.python is not None:
            self.inquiry.say(f"proving {len(due)} guards")
            said, unended = guards.prove(
                due, self.root, self.inquiry.python, self.environment, PYTEST_SECONDS, self._own()
            )
            self._write(said)
            now = Ledger(instruments=tuple(said))
            proved = {one.name: line for one in due if (line := guards.held(one, now)) is not None}
        for name, (one, line) in standing.items():
            why = "" if name in proved else self._doubt(line, one.on)
            why = unended if why and unended and one in due else why
            line = proved.get(name, line)
            if line is None or why:
                yield Row(kind=guards.KIND, name=name, word=UNPROVED, date=_day(line), why=why)
            else:
                yield Row(kind=guards.KIND, name=name, word=line.word, date=_day(line), why=", ".join(line.missed[:3]))

    def _others(self) -> Iterator[Row]:
        """Yield the watch and the observers, as far as somebody has ever drilled them."""
        newest = {(one.kind, one.name): one for one in self.lines.instruments if one.kind in _CODE}
        for (kind, name), line in newest.items():
            line = self.lines.last_of(kind, name, self.inquiry.as_of) or line
            why = self._doubt(line, _CODE[kind]())
            word = UNPROVED if why else gates.PROVED if line.is_proof else gates.INERT
            yield Row(kind=kind, name=name, word=word, date=_day(line), why=why or _count(line))

    def _doubt(self, line: Instrument | None, on: Mapping[str, str]) -> str:
        if line is None:
            return "never proved"
        if "function" in line.on and "function" not in on:
            return "its function is not found as text"
        return line.doubt(on, as_of=self.inquiry.as_of, days=self.settings.proof_days)


def watch_code() -> dict[str, str]:
    """Return the digest of the code that looks whether a run lives."""
    return {"liveness": _code_of(Path(__file__).parents[1] / "liveness")}


def observer_code() -> dict[str, str]:
    """Return the digest of the code that observes inside of the training process."""
    package = Path(__file__).parents[2]
    return {name: _code_of(package / name) for name in ("attach", "adapters", "instruments")}


def _code_of(folder: Path) -> str:
    return files.combined(files.digests(folder, files.matching(folder, ["**/*.py"])))


_CODE: Mapping[str, Callable[[], dict[str, str]]] = {WATCH: watch_code, OBSERVER: observer_code}


def _day(line: Instrument | None) -> str:
    return str(line.date) if line is not None and (line.is_proof or line.word == WEAK) else ""


def _count(line: Drilled | Instrument) -> str:
    return f"{line.caught} of {line.total} caught"
