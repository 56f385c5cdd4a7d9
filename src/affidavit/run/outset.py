"""Everything that is known of a command before it starts, found once: tree, names, declared caches, instruments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from affidavit.fact.observation import Cause
from affidavit.lint.facts import unread_facts
from affidavit.lint.references.facts import no_documents
from affidavit.observe.error import ObserveError
from affidavit.run.attempt import now
from affidavit.run.command import Command
from affidavit.run.declared import declared_fact
from affidavit.run.names import names_facts
from affidavit.run.numbers import numbers_facts
from affidavit.run.plugins import House
from affidavit.run.proofs.standing import Inquiry, standing_facts
from affidavit.run.questions import attested_fact
from affidavit.run.reach import Reach, reach
from affidavit.run.tree import GateAnswer, examine_tree
from affidavit.settings import Settings


def examine(
    command: Command,
    *,
    project: Path,
    environment: Mapping[str, str],
    settings: Settings,
    house: House,
    gate: str,
    reason: str = "",
    run: str = "",
    keeps: bool = True,
    inquiry: Inquiry | None = None,
) -> GateAnswer:
    """Return what the tree gate answers, with every fact that is stated before a command starts.

    Args:
        keeps: whether what was read of installed signatures may be kept in the project for the next time.
        inquiry: how much is done to find out whether guards and gates can say no; without one, they are read of only.
    """
    reached: Reach | None = None
    try:
        reached = reach(command, environment)
        names = names_facts(command, reached, project, keeps=keeps)
    except ObserveError as error:
        names = unread_facts(Cause.INSTRUMENT_FAILED, str(error).partition("\n")[0])
    except Exception as error:  # noqa: BLE001  a reader of ours that fails must not keep a training from starting
        names = unread_facts(Cause.INSTRUMENT_FAILED, f"{type(error).__name__}: {error}".partition("\n")[0])
    tree = examine_tree(
        command,
        project=project,
        environment=environment,
        gate=gate,
        reason=reason,
        run=run,
        reached=reached,
    )
    numbers = numbers_facts(command, reached, project)
    declared = declared_fact(settings, command, environment)
    inquiry = replace(inquiry or Inquiry(as_of=now().date()), python=command.interpreter)
    proofs = standing_facts(settings, house.checks, environment, inquiry)
    attested = attested_fact(settings, inquiry.as_of)
    return replace(tree, facts=(*tree.facts, *names, *numbers, house.fact, declared, *proofs, attested, no_documents()))
