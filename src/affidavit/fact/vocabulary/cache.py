"""Caches: what was served out of one, and whether it is what its function makes today."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="cache.canary",
        type=Table,
        unit="rows",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="what was served from a cache, and how many of its rows were recomputed and differ: a line a function",
    ),
    Term(
        name="cache.opened",
        type=Table,
        unit="files",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="files of data that the process read or wrote before step 2: path, use, bytes, time of change",
    ),
    Term(
        name="cache.files",
        type=Table,
        unit="files",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those files as they were when the run was sealed: path, use, digest, bytes",
    ),
    Term(
        name="cache.lineage",
        type=Table,
        unit="files",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="files that the run read and an earlier run had made: by which run, as is known how, and with what",
    ),
    Term(
        name="cache.claims",
        type=Table,
        unit="claims",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="digests that the run's own manifest claims, the file of each, and what of it the build had read",
    ),
    Term(
        name="cache.probes",
        type=Table,
        unit="inputs",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="what probes have proven of the keys of cached functions that the process uses: a line a function",
    ),
    Term(
        name="cache.declared",
        type=Table,
        unit="rows",
        scope=Scope.PROJECT,
        least=Method.EXECUTED,
        category=Category.INCIDENTAL,
        meaning="caches that affidavit.toml names, and how many of their rows were rebuilt and differ: a line a cache",
    ),
)
