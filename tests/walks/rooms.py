"""The rooms that a walk goes through, each a few lines over the part of the house it is named for.

A project is a real git repository; a run of it is a real process under the real launcher. ``tell`` stands in for a
training process where a walk is about what happens afterwards: it writes the journal that one would have written.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit import settings
from affidavit.case import SUBJECT, Case
from affidavit.check import Finding, judge
from affidavit.fact import folder as names
from affidavit.fact.journal import Journal, Reading, read
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.term import Method
from affidavit.fact.values import Value
from affidavit.gate import Decision, decide
from affidavit.record import ledger
from affidavit.record.manifest import Manifest, Status, from_record
from affidavit.record.merge import merge
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.record.seal import seal
from affidavit.report.statement import Statement
from affidavit.report.terminal import draw
from affidavit.report.text import report
from affidavit.run.assemble import assemble
from affidavit.run.command import Command, read_command
from affidavit.run.declared import declared_fact
from affidavit.run.launch import prepare
from affidavit.run.outset import examine
from affidavit.run.plugins import House, load_house
from affidavit.run.sealing import ensure_sealed
from affidavit.run.supervise import supervise
from affidavit.run.tree import examine_tree

SCRIPTS = Path(__file__).parents[2] / "src/affidavit/demo/scripts"
AS_OF = datetime.date(2026, 1, 1)

LOOP = """
import torch

def train(model, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""
"""The smallest training there is: no framework but torch, and two seconds from exec to exit."""


@dataclass(frozen=True)
class Project:
    """Somebody's repository, and every room of the house from its door."""

    root: Path

    # before a run

    def write(self, name: str, text: str, *, commit: bool = True) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)
        if commit:
            self.git("add", name)
            self.git("commit", "-q", "-m", f"{name} as it should be")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)

    @property
    def house(self) -> House:
        return load_house(self.root)

    def lint(self, *arguments: str) -> Case:
        """Return the case of the project alone: what can be said before anything runs."""
        command = read_command((sys.executable, *arguments), cwd=self.root, environment=os.environ)
        answer = examine(
            command,
            project=self.root,
            environment=os.environ,
            settings=settings.load(self.root, self.house.vocabulary),
            house=self.house,
            gate="refuse",
            keeps=False,
        )
        vocabulary = self.house.vocabulary
        record = Record(kind=Kind.PROJECT, subject="project", facts=ordered(answer.facts), vocabulary=vocabulary)
        return Case(records={SUBJECT: record}, as_of=AS_OF)

    def declared(self, command: Command) -> Fact:
        """Return what came of the caches that affidavit.toml names."""
        return declared_fact(settings.load(self.root, self.house.vocabulary), command, os.environ)

    # a run

    def run(self, *arguments: str, kind: Kind = Kind.RUN) -> Path:
        """Launch a Python program, watch it, seal what it left, and return the run's folder."""
        environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
        command = read_command((sys.executable, *arguments), cwd=self.root, environment=environment)
        house = self.house
        answer = examine_tree(command, project=self.root, environment=environment, gate="refuse")
        assert answer.proceeds, answer.refusal
        prepared = prepare(command, project=self.root, environment=environment, kind=kind, plugins=house.plugins)
        prepared.state([*answer.facts, house.fact, self.declared(command)])
        supervise(prepared)
        ensure_sealed(prepared.folder, house.vocabulary)
        return prepared.folder

    def tell(
        self,
        run: str,
        facts: Mapping[str, Value],
        *,
        asked: Mapping[str, Value] | None = None,
        rank: int = 0,
        world: int = 1,
    ) -> Path:
        """Write the journal of a process that saw these facts in its second step, and return the run's folder."""
        folder = self.root / ".affidavit/runs" / run
        folder.mkdir(parents=True, exist_ok=True)
        process = f"node-{100 + rank}-1"
        journal = Journal(names.journal(folder, process, 0), process=process, details={"attempt": 0, "emits": []})
        journal.write("bound", rank=rank, world=world, backend="")
        for name, value in (asked or {}).items():
            known = Known(value, Method.DECLARED, "train.py")
            journal.observe(Observation(name, Aspect.REQUESTED, known))
        for name, value in facts.items():
            known = Known(value, self.house.vocabulary[name].least, "step 2")
            journal.observe(Observation(name, Aspect.RESOLVED, known, step=2))
        journal.write("live", step=2)
        journal.close("exited")
        return folder

    def seal(self, folder: Path) -> Manifest:
        """Merge the journals that were told and seal them, as a supervisor would."""
        record = merge(self.readings(folder), kind=Kind.RUN, subject=folder.name, vocabulary=self.house.vocabulary)
        document = from_record(record, affidavit="0.1.0", status=Status.FINISHED, attempts=(), recipe="train")
        seal(folder, document)
        return document

    # afterwards

    def readings(self, folder: Path) -> tuple[Reading, ...]:
        return tuple(map(read, names.journals(folder)))

    def case(self, folder: Path) -> Case:
        """Return all that a judgement of this run may look at."""
        house = self.house
        held = settings.load(self.root, house.vocabulary)
        return assemble(folder, held, as_of=AS_OF, vocabulary=house.vocabulary)

    def judge(self, case: Case) -> dict[str, Finding]:
        return {finding.check: finding for finding in judge(self.house.checks, case)}

    def decide(self, findings: Mapping[str, Finding]) -> Decision:
        held = settings.load(self.root, self.house.vocabulary)
        return decide(tuple(findings.values()), held.waivers, as_of=AS_OF)

    def report(self, case: Case, findings: Mapping[str, Finding]) -> str:
        """Return what a reader sees."""
        statement = Statement(
            title=case.subject.subject,
            status="sealed",
            case=case,
            checks=self.house.checks,
            findings=tuple(findings.values()),
            decision=self.decide(findings),
            ledger=ledger.read(self.root / names.LEDGER),
        )
        return draw(report(statement))


def said(reading: Reading, term: str) -> Value:
    """Return the value that one journal tells of a term; the last word wins, as in the merge."""
    *_, state = (seen.state for seen in reading.observations if seen.term == term and seen.aspect is Aspect.RESOLVED)
    assert isinstance(state, Known), state
    return state.value
