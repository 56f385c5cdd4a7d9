"""Dataset: what became of the script's rows and columns before they were collated."""

from affidavit.fact.term import Method, Ranks, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="dataset.filters",
        type=Table,
        unit="rows",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        meaning="each filter that the trainer itself put the script's rows through: whose, why, rows before and after",
        phrase="filters of the trainer left rows out: {}",
    ),
    Term(
        name="dataset.columns",
        type=Table,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning='what became of each column of the script\'s rows: "model", "collator", "read" before, or "left out"',
        phrase="columns of the rows end up here: {}",
    ),
)
