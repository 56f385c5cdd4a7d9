"""What can stop an observer of the outside world: it could not judge, which is never the same as clean."""

from __future__ import annotations

from affidavit.fact.errors import AffidavitError


class ObserveError(AffidavitError):
    """An observer could not see what it was asked about."""


class GitMissingError(ObserveError):
    """There is no git program on PATH."""


class NotARepositoryError(ObserveError):
    """The folder belongs to no git repository."""


class GitRefusedError(ObserveError):
    """Git is there and did not answer: another owner, a broken repository, a time limit."""


class InterpreterError(ObserveError):
    """The training interpreter did not say where its packages lie."""


class TargetMissingError(ObserveError):
    """The script or module that would be run was not found."""


class SnapshotError(ObserveError):
    """A snapshot was not taken; nothing in the repository names it."""


class StampError(ObserveError):
    """A stamp cannot be made here, or what lies under its name is none."""
