"""A statement to draw: three checks that stand for any, on a case that passes and on ways in which it does not."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from affidavit.case import Case, case_of
from affidavit.check import Check, Fail, Landmine, Outcome, Pass, Review, Site, check, judge
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.gate import Waiver, decide
from affidavit.record.ledger import Drilled, Ledger
from affidavit.report.statement import Statement

DAY = datetime.date(2026, 1, 1)
RUN: Mapping[str, Value] = {
    "attention.requested": "sdpa",
    "attention.configured": Layers.of({f"layers.{layer}.self_attn": "sdpa" for layer in range(4)}),
    "attention.executed": Tally.count("calls", {"flash": 48}),
    "attention.kernels": ("flash",),
    "tokens.supervision_requested": "assistant",
    "tokens.seen_by_role": Tally.count("tokens", {"assistant": 1_300, "user": 2_010}),
    "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 1_204, "user": 0}),
    "tokens.supervised_by_turn": Table(
        ("turn", "role", "turns", "tokens", "supervised", "closed", "ends"),
        ((0, "user", 24, 2_010, 0, 24, 0), (1, "assistant", 24, 1_300, 1_204, 24, 24)),
    ),
    "tokens.supervised_roles": ("assistant",),
    "tree.commit": "3fa2b1cdeadbeef0",
    "tree.files_examined": 12,
    "tree.deviations": Table(("path", "verdict"), ()),
}


@check(
    "attention-as-requested",
    needs=("attention.requested", "attention.configured", "attention.kernels"),
    landmine=Landmine.RESULT,
    unaffected="loss, data fingerprints",
)
def attention(case: Case) -> Outcome:
    """The kernel that ran is the one that was asked for."""
    ran = [kernel for _, value in case.values("attention.kernels") for kernel in value]
    if ran == ["flash"] * len(ran):
        return Pass(examined=len(ran))
    return Fail(
        expected="flash (asked: sdpa)",
        saw=f"{', '.join(dict.fromkeys(ran))} (executed)",
        means="Throughput and the kernel table describe another kernel.",
        sites=(Site(key="layers.{0..3}.self_attn", rank=1, step=2),),
    )


@check(
    "supervised-roles-reviewed",
    needs=("tokens.supervised_roles", "tokens.supervised_by_role"),
    landmine=Landmine.RESULT,
    unaffected="attention, code",
)
def roles(case: Case) -> Outcome:
    """Somebody confirmed whose tokens carry the loss."""
    lit = case.value("tokens.supervised_roles")
    if lit == ("assistant",):
        return Pass(examined=1)
    return Review(
        expected="assistant only, or a word from you",
        saw=f"{', '.join(lit)} (executed)",
        means="The model learns to say what users say.",
        accept=("tokens.supervised_roles",),
        action='Look at them: "affidavit tokens".',
    )


@check(
    "tree-committed",
    needs=("tree.commit", "tree.deviations", "tree.files_examined"),
    landmine=Landmine.TREE,
    unaffected="what ran on the device",
)
def tree(case: Case) -> Outcome:
    """The commit describes the code."""
    return Pass(examined=int(str(case.value("tree.files_examined"))))


CHECKS: tuple[Check, ...] = (attention, roles, tree)


def proof(rule: Check, *, caught: int = 9) -> Drilled:
    return Drilled(check=rule.id, date=DAY, caught=caught, total=9, affidavit="0.1.0")


def healthy(*, ranks: int = 1) -> Case:
    return case_of(run=RUN, ranks=ranks)


def statement(
    case: Case,
    *,
    checks: tuple[Check, ...] = CHECKS,
    waivers: Sequence[Waiver] = (),
    drilled: bool = True,
    problems: tuple[str, ...] = (),
) -> Statement:
    findings = judge(checks, case)
    return Statement(
        title="20260101-3f9a",
        status="FINISHED, 20 steps",
        case=case,
        checks=checks,
        findings=findings,
        decision=decide(findings, waivers, as_of=case.as_of),
        ledger=Ledger(drills=tuple(map(proof, checks)) if drilled else (), problems=problems),
    )
