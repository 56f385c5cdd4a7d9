"""A dossier that strangers may read: built anew from what is known to be harmless, and from nothing else.

Each part is made field by field here, so a field that somebody adds is in no shared copy until it is named; and each
text goes through :mod:`affidavit.report.page.harmless`. Whoever shares a report must not have to read it first.

Blind to: what numbers tell; how many rows a data set has stays in the copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.finding import Contradiction, Finding, Site, Verdict
from affidavit.check.rule import Check
from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Vocabulary
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.gate import Decision, Waiver
from affidavit.record.annotation import Annotation
from affidavit.record.ledger import Drilled, Ledger
from affidavit.record.manifest import Attempt, Evidence, Interpreter, Launcher, Manifest, Process
from affidavit.record.record import Fact, Record
from affidavit.report.page import harmless
from affidavit.report.page.dossier import Dossier, Kept
from affidavit.report.page.harmless import WITHHELD
from affidavit.report.page.keeper import Keeper
from affidavit.report.statement import Statement
from affidavit.report.tokens import Row, Spans, Stretch
from affidavit.run.corrections import Felled

_HOUSE = "affidavit.checks."


def shared(dossier: Dossier) -> Dossier:
    """Return the dossier of a shared copy, with the count of texts that it keeps back."""
    copy = _Copy(dossier)
    return replace(copy.dossier(), withheld=copy.keeper.withheld)


class _Copy:
    """One dossier on its way to strangers."""

    def __init__(self, dossier: Dossier) -> None:
        self._of = dossier
        self._words = load_vocabulary()
        checks = dossier.statement.checks
        self._checks: Mapping[str, Check] = {
            check.id: check for check in checks if check.judge.__module__.startswith(_HOUSE)
        }
        self.keeper = Keeper()
        self._findings: dict[Finding, Finding] = {}

    def dossier(self) -> Dossier:
        return Dossier(
            statement=self._statement(self._of.statement),
            manifest=self._manifest(self._of.manifest),
            digest=self.keeper.say(self._of.digest, harmless.digest),
            tokens=tuple(map(self._kept, self._of.tokens)),
        )

    def _check(self, check: str) -> str:
        return check if check in self._checks else self.keeper.never(check)

    # Parts.

    def _statement(self, statement: Statement) -> Statement:
        record = self._record(statement.case.subject)
        return Statement(
            title=self.keeper.say(statement.title, harmless.run),
            status=self.keeper.prose(statement.status),
            case=Case(records={SUBJECT: record}, as_of=statement.case.as_of, episode=statement.case.episode),
            checks=tuple(self._checks.values()),
            findings=tuple(map(self._told, statement.findings)),
            decision=self._decision(statement.decision),
            ledger=self._ledger(statement.ledger),
            doubts={check: WITHHELD for check in statement.doubts if check in self._checks},
            corrections=tuple(
                Felled(name=self.keeper.never(one.name), said=self.keeper.never(one.said))
                for one in statement.corrections
            ),
            annotations=tuple(map(self._annotation, statement.annotations)),
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
            message=self._message(finding),
            cites=tuple(cite for cite in finding.cites if Need.parse(cite).name in self._words),
            sites=tuple(map(self._site, finding.sites)),
            cause=finding.cause,
            examined=finding.examined,
            episode=finding.episode,
            unaffected=known.unaffected if known else WITHHELD,
            contradiction=None if finding.contradiction is None else self._contradiction(finding.contradiction),
        )

    def _message(self, finding: Finding) -> str:
        if finding.contradiction is not None:
            return WITHHELD  # its parts are told, each by itself
        if finding.verdict is Verdict.UNKNOWN:
            need, _, why = finding.message.partition(": ")
            if need in finding.cites and Need.parse(need).name in self._words:
                return f"{need}: {self._why(finding.cause, why)}"
            return self._why(finding.cause, finding.message)
        return self.keeper.prose(finding.message)

    def _contradiction(self, said: Contradiction) -> Contradiction:
        return Contradiction(
            expected=self.keeper.prose(said.expected),
            saw=self.keeper.prose(said.saw),
            means=self.keeper.prose(said.means),
            action=self.keeper.prose(said.action),
        )

    def _why(self, cause: Cause | None, why: str) -> str:
        """Return why something is unknown; why a fact falls is a person's word."""
        return self.keeper.never(why) if cause is Cause.FALLS else self.keeper.prose(why)

    def _site(self, site: Site) -> Site:
        path, key = self.keeper.never(site.path), self.keeper.say(site.key, harmless.module)
        return Site(path=path, line=site.line, key=key, rank=site.rank, step=site.step)

    def _record(self, record: Record) -> Record:
        facts = [self._fact(fact) for fact in record.facts if fact.name in self._words]
        self.keeper.withheld += len(record.facts) - len(facts)
        return Record(
            kind=record.kind,
            subject=self.keeper.say(record.subject, harmless.run),
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
            was=None if fact.was is None else self._state(fact.name, fact.was),
        )

    def _state(self, name: str, state: State) -> State:
        if isinstance(state, Known):
            return self._known(name, state)
        return Unknown(state.cause, self._why(state.cause, state.why))

    def _known(self, name: str, state: Known) -> Known:
        return Known(self.keeper.value(name, state.value), state.method, self.keeper.prose(state.source))

    def _decision(self, decision: Decision) -> Decision:
        return Decision(
            exit_code=decision.exit_code,
            blocking=tuple(map(self._told, decision.blocking)),
            waived=tuple((self._told(finding), self._waiver(waiver)) for finding, waiver in decision.waived),
            expired=tuple(map(self._waiver, decision.expired)),
            counts=decision.counts,
            in_force=tuple(map(self._waiver, decision.in_force)),
        )

    def _waiver(self, waiver: Waiver) -> Waiver:
        check = waiver.target.partition("@")[0]
        reason, author = self.keeper.never(waiver.reason), self.keeper.never(waiver.author)
        return Waiver(target=self._check(check), reason=reason, author=author, until=waiver.until)

    def _ledger(self, ledger: Ledger) -> Ledger:
        drills = tuple(
            Drilled(
                check=drill.check,
                date=drill.date,
                caught=drill.caught,
                total=drill.total,
                affidavit=self.keeper.say(drill.affidavit, harmless.version),
            )
            for drill in ledger.drills
            if drill.check in self._checks
        )
        return Ledger(drills=drills, problems=tuple(map(self.keeper.prose, ledger.problems)))

    def _manifest(self, manifest: Manifest) -> Manifest:
        python, launcher = manifest.interpreter, manifest.launcher
        return Manifest(
            affidavit=self.keeper.say(manifest.affidavit, harmless.version),
            run=self.keeper.say(manifest.run, harmless.run),
            kind=manifest.kind,
            recipe=self.keeper.never(manifest.recipe),
            status=manifest.status,
            world=manifest.world,
            episodes=manifest.episodes,
            attempts=tuple(map(self._attempt, manifest.attempts)),
            facts=(),
            terms=(),
            notes=tuple(map(self.keeper.prose, manifest.notes)),
            evidence=tuple(
                Evidence(digest=self.keeper.say(one.digest, harmless.digest), bytes=one.bytes, tokens=one.tokens)
                for one in manifest.evidence
            ),
            interpreter=Interpreter(
                python=self.keeper.say(python.python, harmless.version),
                platform=self.keeper.say(python.platform),
                executable=self.keeper.never(python.executable),
            ),
            launcher=Launcher(
                kind=self.keeper.say(launcher.kind),
                scheduler=self.keeper.say(launcher.scheduler),
                job=self.keeper.never(launcher.job),
                host=self.keeper.never(launcher.host),
                world=launcher.world,
            ),
        )

    def _attempt(self, attempt: Attempt) -> Attempt:
        return Attempt(
            number=attempt.number,
            command=(self.keeper.never(" ".join(attempt.command)),),
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
            host=self.keeper.never(process.host),
            pid=process.pid,
            rank=process.rank,
            world=process.world,
            last_step=process.last_step,
            closed=self.keeper.say(process.closed),
            torn=process.torn,
        )

    def _annotation(self, one: Annotation) -> Annotation:
        return Annotation(
            seq=one.seq,
            prev=self.keeper.say(one.prev, harmless.digest),
            about=self.keeper.say(one.about, harmless.digest),
            kind=one.kind,
            falls=self._terms(one.falls),
            survives=self._terms(one.survives),
            not_reviewed=self._terms(one.not_reviewed),
            reason=self.keeper.never(one.reason),
            author=self.keeper.never(one.author),
            time=one.time,
            by=self.keeper.say(one.by, harmless.run),
        )

    def _terms(self, names: tuple[str, ...]) -> tuple[str, ...]:
        subjects = {f"{term.name.partition('.')[0]}.*" for term in self._words}
        return tuple(name if name in self._words or name in subjects else self.keeper.never(name) for name in names)

    def _kept(self, kept: Kept) -> Kept:
        spans = None if kept.spans is None else self._spans(kept.spans)
        return Kept(rank=kept.rank, episode=kept.episode, spans=spans, missing=self.keeper.prose(kept.missing))

    def _spans(self, spans: Spans) -> Spans:
        """Return how many tokens of each turn are lit; neither their text nor their ids, which decode to it."""
        rows = []
        for row in spans.rows:
            self.keeper.withheld += len(row.stretches)
            stretches = (
                Stretch(role=self.keeper.say(one.role), turn=one.turn, lit=one.lit, tokens=one.tokens)
                for one in row.stretches
            )
            rows.append(Row(number=row.number, stretches=tuple(stretches)))
        return Spans(policy=self.keeper.say(spans.policy), rows=tuple(rows))
