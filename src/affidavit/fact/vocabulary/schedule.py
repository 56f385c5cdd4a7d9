"""The schedule: what moves the learning rate, how far it reaches, and the rate that each step used."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term
from affidavit.fact.values import Series, Tally

TERMS = (
    Term(
        name="schedule.asked",
        type=tuple,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        category=Category.INCIDENTAL,
        meaning="what the script asked of the schedule by name, the rate that it starts from among it",
    ),
    Term(
        name="schedule.kind",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        meaning='what moves the learning rate: "linear", "cosine", a class, or "none" (no scheduler; perhaps a hand)',
    ),
    Term(
        name="schedule.warmup_steps",
        type=int,
        unit="moves",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="moves of the scheduler before its rate is at its peak; 0 where it names no warm-up",
    ),
    Term(
        name="schedule.length",
        type=int,
        unit="moves",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="moves of the scheduler after which it is at its end; 0 where it names none",
    ),
    Term(
        name="schedule.steps_ahead",
        type=int,
        unit="steps",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="optimizer steps that the loop has before it when training begins; 0 where it does not say",
    ),
    Term(
        name="schedule.moves",
        type=Tally,
        unit="moves",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="moves of the scheduler before the first step and between the first and the last, beside those steps",
    ),
    Term(
        name="schedule.rates",
        type=Series,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        category=Category.INCIDENTAL,
        meaning="the learning rate of the first group that each step used, thinned out; first, highest and last stay",
    ),
)
