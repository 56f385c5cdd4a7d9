"""The engine of judgement: a check is a pure function of a case, proved able to fail.

    from affidavit.check import Fail, Landmine, Pass, check

A check file holds the rule, its ``healthy`` example and the sabotages that make it fail; ``load`` refuses less.
"""

from affidavit.check.drill import Drill, DrillRefusedError, Proof, drill
from affidavit.check.engine import judge, owed, run
from affidavit.check.finding import Fail, Finding, Landmine, Outcome, Pass, Review, Site, Unproven, Verdict
from affidavit.check.rule import Check, CheckShapeError, Sabotage, check

__all__ = [
    "Check",
    "CheckShapeError",
    "Drill",
    "DrillRefusedError",
    "Fail",
    "Finding",
    "Landmine",
    "Outcome",
    "Pass",
    "Proof",
    "Review",
    "Sabotage",
    "Site",
    "Unproven",
    "Verdict",
    "check",
    "drill",
    "judge",
    "owed",
    "run",
]
