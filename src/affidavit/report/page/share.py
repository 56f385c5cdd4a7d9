"""A dossier that strangers may read: built anew from what is known to be harmless, and from nothing else.

Each part is made field by field here, so a field that somebody adds is in no shared copy until it is named; and each
text goes through :mod:`affidavit.report.page.harmless`. Whoever shares a report must not have to read it first.

Blind to: what numbers tell; how many rows a data set has stays in the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.finding import Finding, Site, Verdict
from affidavit.check.rule import Check
from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Vocabulary
from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.gate import Decision, Waiver
from affidavit.record.chain import Annotation
from affidavit.record.ledger import Drilled, Ledger
from affidavit.record.manifest import Attempt, Evidence, Interpreter, Launcher, Manifest, Process
from affidavit.record.record import Fact, Record
from affidavit.report.page import harmless
from affidavit.report.page.dossier import Dossier, Kept
from affidavit.report.page.findings import FORM
from affidavit.report.page.harmless import WITHHELD
from affidavit.report.statement import Statement
from affidavit.report.tokens import Row, Spans, Stretch

_HOUSE = "affidavit.checks."
_PLACES = frozenset({"path", "source", "file", "name"})
"""Columns that hold places or names of files."""
_OF_PLACES = frozenset({"tree.bystanders", "code.changed_on_disk"})


def shared(dossier: Dossier) -> Dossier:
    """Return the dossier of a shared copy, with the count of texts that it keeps back."""
    copy = _Copy(dossier)
    return replace(copy.dossier(), withheld=copy.withheld)


class _Copy:
    """One dossier on its way to strangers; counts what it keeps back."""

    def __init__(self, dossier: Dossier) -> None:
        self._of = dossier
        self._words = load_vocabulary()
        checks = dossier.statement.checks
        self._checks: Mapping[str, Check] = {
            check.id: check for check in checks if check.judge.__module__.startswith(_HOUSE)
        }
        self.withheld = 0
        self._findings: dict[Finding, Finding] = {}

    def dossier(self) -> Dossier:
        return Dossier(
            statement=self._statement(self._of.statement),
            manifest=self._manifest(self._of.manifest),
            digest=self._say(self._of.digest, harmless.digest),
            annotations=tuple(map(self._annotation, self._of.annotations)),
            tokens=tuple(map(self._kept, self._of.tokens)),
        )

    # Texts. Every one of them passes through one of these.

    def _say(self, said: str, by: Callable[[str], str] = harmless.text) -> str:
        told = by(said) if said else ""
        self.withheld += WITHHELD in told and WITHHELD not in said
        return told

    def _prose(self, said: str) -> str:
        return self._say(said, harmless.prose)

    def _never(self, said: str) -> str:
        return self._say(said, lambda _: WITHHELD)

    def _check(self, check: str) -> str:
        return check if check in self._checks else self._never(check)

    # Parts.

    def _statement(self, statement: Statement) -> Statement:
        record = self._record(statement.case.subject)
        return Statement(
            title=self._say(statement.title, harmless.run),
            status=self._prose(statement.status),
            case=Case(records={SUBJECT: record}, as_of=statement.case.as_of, episode=statement.case.episode),
            checks=tuple(self._checks.values()),
            findings=tuple(map(self._told, statement.findings)),
            decision=self._decision(statement.decision),
            ledger=self._ledger(statement.ledger),
        )

    def _told(self, finding: Finding) -> Finding:
        """Return a finding as it is told, once, because the decision names the same ones."""
        if finding not in self._findings:
            self._findings[finding] = self._finding(finding)
        return self._findings[finding]

    def _finding(self, finding: Finding) -> Finding:
        known = self._checks.get(finding.check)
        check = self._check(finding.check)
        return Finding(
            check=check,
            landmine=finding.landmine,
            verdict=finding.verdict,
            message=self._message(finding, check),
            cites=tuple(cite for cite in finding.cites if Need.parse(cite).name in self._words),
            sites=tuple(map(self._site, finding.sites)),
            cause=finding.cause,
            examined=finding.examined,
            episode=finding.episode,
            unaffected=known.unaffected if known else WITHHELD,
        )

    def _message(self, finding: Finding, check: str) -> str:
        said = finding.message.removeprefix(f"{finding.check}: ")
        if finding.verdict is Verdict.UNKNOWN:
            need, _, why = said.partition(": ")
            if need in finding.cites and Need.parse(need).name in self._words:
                return f"{need}: {self._why(finding.cause, why)}"
            return self._why(finding.cause, said)
        form = FORM.fullmatch(said)
        if form is None:
            return self._prose(said)
        expected, saw, means = (self._prose(form[part]) for part in ("expected", "saw", "means"))
        return f"{check}: expected {expected}, saw {saw}.\n{means}\nNot affected: {finding.unaffected and WITHHELD}."

    def _why(self, cause: Cause | None, why: str) -> str:
        """Return why something is unknown; why a fact falls is a person's word."""
        return self._never(why) if cause is Cause.FALLS else self._prose(why)

    def _site(self, site: Site) -> Site:
        path, key = self._never(site.path), self._say(site.key, harmless.module)
        return Site(path=path, line=site.line, key=key, rank=site.rank, step=site.step)

    def _record(self, record: Record) -> Record:
        facts = [self._fact(fact) for fact in record.facts if fact.name in self._words]
        self.withheld += len(record.facts) - len(facts)
        return Record(
            kind=record.kind,
            subject=self._say(record.subject, harmless.run),
            facts=tuple(facts),
            vocabulary=Vocabulary(self._words),
            world=record.world,
            episodes=record.episodes,
        )

    def _fact(self, fact: Fact) -> Fact:
        request = None if fact.request is None else self._known(fact.name, fact.request)
        return Fact(
            name=fact.name,
            state=self._state(fact.name, fact.state),
            request=request,
            ranks=fact.ranks,
            episode=fact.episode,
            step=fact.step,
        )

    def _state(self, name: str, state: State) -> State:
        if isinstance(state, Known):
            return self._known(name, state)
        return Unknown(state.cause, self._why(state.cause, state.why))

    def _known(self, name: str, state: Known) -> Known:
        return Known(self._value(name, state.value), state.method, self._prose(state.source))

    def _value(self, name: str, value: Value) -> Value:
        if isinstance(value, str):
            return self._line(name, value)
        if isinstance(value, Digest):
            told = self._say(str(value), harmless.digest)
            return value if told != WITHHELD else WITHHELD
        if isinstance(value, tuple):
            return tuple(self._never(part) if name in _OF_PLACES else self._say(part) for part in value)
        if isinstance(value, Tally):
            kinds = self._unlike([kind for kind, _ in value.counts])
            return Tally.count(self._say(value.of), dict(zip(kinds, (count for _, count in value.counts))))
        if isinstance(value, Table):
            return self._table(value)
        if isinstance(value, Series):
            return Series(x=value.x, y=value.y, unit=self._say(value.unit))
        if isinstance(value, Layers):
            return Layers(tuple((self._say(path, harmless.module), self._say(kind)) for path, kind in value.runs))
        return value

    def _line(self, name: str, value: str) -> str:
        """Return a value that is one text; what the tree gate was told ends in a person's reason."""
        if name == "tree.gate":
            answer, colon, reason = value.partition(":")
            return f"{self._say(answer)}{colon} {self._never(reason)}" if colon else self._prose(value)
        return self._prose(value) if name == "code.commit" else self._say(value)

    def _table(self, table: Table) -> Table:
        columns = self._unlike(list(table.columns))
        rows = tuple(
            tuple(
                (self._never(cell) if column in _PLACES else self._say(cell)) if isinstance(cell, str) else cell
                for column, cell in zip(table.columns, row)
            )
            for row in table.rows
        )
        return Table(columns, rows)

    def _unlike(self, names: list[str]) -> tuple[str, ...]:
        """Return names of which no two are alike, though several may be withheld."""
        told = [self._say(name) for name in names]
        return tuple(
            f"{name} {told[:place].count(name) + 1}" if name in told[:place] else name
            for place, name in enumerate(told)
        )

    def _decision(self, decision: Decision) -> Decision:
        return Decision(
            exit_code=decision.exit_code,
            blocking=tuple(map(self._told, decision.blocking)),
            waived=tuple((self._told(finding), self._waiver(waiver)) for finding, waiver in decision.waived),
            expired=tuple(map(self._waiver, decision.expired)),
            counts=decision.counts,
        )

    def _waiver(self, waiver: Waiver) -> Waiver:
        check = waiver.target.partition("@")[0]
        reason, author = self._never(waiver.reason), self._never(waiver.author)
        return Waiver(target=self._check(check), reason=reason, author=author, until=waiver.until)

    def _ledger(self, ledger: Ledger) -> Ledger:
        drills = tuple(
            Drilled(
                check=drill.check,
                date=drill.date,
                caught=drill.caught,
                total=drill.total,
                affidavit=self._say(drill.affidavit, harmless.version),
            )
            for drill in ledger.drills
            if drill.check in self._checks
        )
        return Ledger(drills=drills, problems=tuple(map(self._prose, ledger.problems)))

    def _manifest(self, manifest: Manifest) -> Manifest:
        python, launcher = manifest.interpreter, manifest.launcher
        return Manifest(
            affidavit=self._say(manifest.affidavit, harmless.version),
            run=self._say(manifest.run, harmless.run),
            kind=manifest.kind,
            recipe=self._never(manifest.recipe),
            status=manifest.status,
            world=manifest.world,
            episodes=manifest.episodes,
            attempts=tuple(map(self._attempt, manifest.attempts)),
            facts=(),
            terms=(),
            notes=tuple(map(self._prose, manifest.notes)),
            evidence=tuple(
                Evidence(digest=self._say(one.digest, harmless.digest), bytes=one.bytes, tokens=one.tokens)
                for one in manifest.evidence
            ),
            interpreter=Interpreter(
                python=self._say(python.python, harmless.version),
                platform=self._say(python.platform),
                executable=self._never(python.executable),
            ),
            launcher=Launcher(
                kind=self._say(launcher.kind),
                scheduler=self._say(launcher.scheduler),
                job=self._never(launcher.job),
                host=self._never(launcher.host),
                world=launcher.world,
            ),
        )

    def _attempt(self, attempt: Attempt) -> Attempt:
        return Attempt(
            number=attempt.number,
            command=(self._never(" ".join(attempt.command)),),
            started=attempt.started,
            ended=attempt.ended,
            status=attempt.status,
            exit_code=attempt.exit_code,
            signal=attempt.signal,
            last_step=attempt.last_step,
            processes=tuple(map(self._process, attempt.processes)),
        )

    def _process(self, process: Process) -> Process:
        return Process(
            identity="",
            host=self._never(process.host),
            pid=process.pid,
            rank=process.rank,
            world=process.world,
            last_step=process.last_step,
            closed=self._say(process.closed),
            torn=process.torn,
        )

    def _annotation(self, one: Annotation) -> Annotation:
        return Annotation(
            seq=one.seq,
            prev=self._say(one.prev, harmless.digest),
            about=self._say(one.about, harmless.digest),
            kind=one.kind,
            falls=self._terms(one.falls),
            survives=self._terms(one.survives),
            not_reviewed=self._terms(one.not_reviewed),
            reason=self._never(one.reason),
            author=self._never(one.author),
            time=one.time,
        )

    def _terms(self, names: tuple[str, ...]) -> tuple[str, ...]:
        subjects = {f"{term.name.partition('.')[0]}.*" for term in self._words}
        return tuple(name if name in self._words or name in subjects else self._never(name) for name in names)

    def _kept(self, kept: Kept) -> Kept:
        spans = None if kept.spans is None else self._spans(kept.spans)
        return Kept(rank=kept.rank, episode=kept.episode, spans=spans, missing=self._prose(kept.missing))

    def _spans(self, spans: Spans) -> Spans:
        """Return how many tokens of each turn are lit; neither their text nor their ids, which decode to it."""
        rows = []
        for row in spans.rows:
            self.withheld += len(row.stretches)
            stretches = (
                Stretch(role=self._say(one.role), turn=one.turn, lit=one.lit, tokens=one.tokens)
                for one in row.stretches
            )
            rows.append(Row(number=row.number, stretches=tuple(stretches)))
        return Spans(policy=self._say(spans.policy), rows=tuple(rows))
