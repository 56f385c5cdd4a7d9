"""Gates and alarms in the text of a project: how many were read, and which of them cannot say no."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="gates.examined",
        type=int,
        unit="gates",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="commands that judge, in scripts, Makefiles, Dockerfiles, workflows and crontabs",
    ),
    Term(
        name="gates.inert",
        type=Table,
        unit="gates",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those whose no reaches nobody: path, line, rule, text, known (proved or likely), said",
    ),
    Term(
        name="gates.unread",
        type=Table,
        unit="places",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="files that could not be read, so that their gates and alarms are not judged: path, line, said",
    ),
    Term(
        name="alarms.examined",
        type=int,
        unit="alarms",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="probes, health checks and launches of a training whose exit code a script may lose",
    ),
    Term(
        name="alarms.inert",
        type=Table,
        unit="alarms",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those that cannot say dead: path, line, rule, text, known (proved or likely), said",
    ),
)
