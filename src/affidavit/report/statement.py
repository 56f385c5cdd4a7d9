"""All that a report draws of one judged record; made by whoever judged, drawn by every form alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from affidavit.case import Case
from affidavit.check.finding import Finding, Landmine
from affidavit.check.rule import Check
from affidavit.fact.observation import Cause, Unknown
from affidavit.fact.term import Scope
from affidavit.gate import Decision
from affidavit.record.annotation import Annotation, Extent
from affidavit.record.ledger import Drilled, Ledger
from affidavit.run.corrections import Felled


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One judged record: the case, what was found, what follows, and how far the checks themselves are proved.

    Args:
        title: what is judged, as a command takes it: a run's id, or ``this project``.
        status: how it stands: ``FINISHED, 20 steps``, ``live at step 2``, ``before the command``.
        checks: every check that was loaded, owed or not.
        ledger: when each check was last seen to fail.
        doubts: why the last drill of a check proves nothing of the check as it is now.
        corrections: what fell of other runs, which this one builds on or is locked to.
        annotations: what was said of this one later, in order; what falls by it is unknown in the case already.
    """

    title: str
    status: str
    case: Case
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    decision: Decision
    ledger: Ledger
    doubts: Mapping[str, str] = field(default_factory=dict)
    corrections: tuple[Felled, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @property
    def stands(self) -> str:
        """How it stands, with the word for it where all of it was taken back: whoever reads one line must see that."""
        kinds = {one.kind: one for one in self.annotations}
        if Extent.RETRACTION in kinds:
            return f"{self.status}, RETRACTED"
        instead = kinds.get(Extent.SUPERSEDES)
        return f"{self.status}, SUPERSEDED by {instead.by}" if instead is not None else self.status

    @property
    def is_run(self) -> bool:
        """Whether a process was observed at all, so that ranks can be counted."""
        return Scope.RANK in self.case.subject.kind.scopes

    @property
    def attached(self) -> int:
        """How many ranks told anything: one of which nothing but silence is known was not seen."""
        left_none = {Cause.NOTHING_ATTACHED, Cause.NOTHING_TRAINED, Cause.NOT_REACHED, Cause.RANK_MISSING}
        return len(
            {
                rank
                for fact in self.case.subject.facts
                if not (isinstance(fact.state, Unknown) and fact.state.cause in left_none)
                for rank in fact.ranks
            }
        )

    def under(self, landmine: Landmine) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.landmine is landmine)

    @property
    def drills(self) -> Mapping[str, Drilled]:
        """The last drill of each check that spoke here, unless it no longer proves anything of it.

        An old proof does not outlast a drill that missed something, other code, or the time for which it holds. The
        last is the last on the day of judging: a line of a day that has not come hides none that is true.
        """
        checks = dict.fromkeys(finding.check for finding in self.findings)
        drills = {check: self.ledger.last(check, self.case.as_of) for check in checks}
        return {
            check: drill
            for check, drill in drills.items()
            if drill is not None and not (check in self.doubts and drill.is_proof)
        }
