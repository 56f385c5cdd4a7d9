"""``affidavit drill``: break what the checks guard, and see each of them say so."""

from __future__ import annotations

from pathlib import Path

import click

from affidavit import __version__
from affidavit.case import Case, InertSabotageError
from affidavit.check.drill import DrillRefusedError, Proof
from affidavit.check.drill import drill as break_case
from affidavit.check.engine import owed
from affidavit.check.rule import Check
from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here, today
from affidavit.cli.world import World, run_world, worlds
from affidavit.record import ledger
from affidavit.record.ledger import Drilled
from affidavit.report import liveness
from affidavit.report.drill import Drilling, document, lines
from affidavit.run.liveness import decoys
from affidavit.run.liveness import probe as probes


@click.command(short_help="Prove that the checks can fail.", epilog=example("affidavit drill last"))
@click.argument("run", default="", metavar="[RUN]")
@click.option(
    "--world",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also run DIR/<check>/fault*.py and clean*.py: real scripts with the real fault, under the true launcher.",
)
@click.option("--python", default="python", metavar="PATH", help="The Python that runs the worlds.")
@click.option("--watch", is_flag=True, help='Kill, stop, deadlock and impersonate decoys; "watch" must say so.')
@click.option(
    "--probe", default="", metavar="COMMAND", help="Ask a liveness command of yours for {}: it must say dead."
)
@json_option
def command(run: str, world: Path | None, python: str, watch: bool, probe: str, as_json: bool) -> int:
    """Prove that the checks can fail: every sabotage on each check's own example, and on a RUN where it passes.

    What was caught goes into instruments.jsonl with today's date. Exit code 1 where a sabotage was missed.

    With --watch decoys go wrong instead, and with --probe a command of yours is asked for a target that cannot exist.
    Its name stands for {} or in $AFFIDAVIT_TARGET. Dead is an exit code that is not 0, or an output unlike that for a
    process that lives under such a name.
    """
    project = here()
    if watch or probe:
        _refuse_both(run=bool(run or world), watch=watch, probe=bool(probe))
        return _probe(probe, as_json) if probe else _watch(project, as_json)
    found = project.find(run) if run else None
    case = judged(project, found).case if found else None
    held = {one.name: one for one in worlds(world)} if world is not None else {}
    drillings = [_drilling(project, check, case, held.pop(check.id, None), python) for check in project.checks]
    rest = [
        Drilling(check=one.folder.name, proofs=tuple(run_world(project, one, None, python))) for one in held.values()
    ]
    ledger.append(project.ledger_path, (_dated(drilling, found.id if found else "") for drilling in drillings))
    if as_json:
        page.say(document([*drillings, *rest]))
    else:
        page.show(lines([*drillings, *rest]))
    return 0 if all(drilling.is_proof for drilling in (*drillings, *rest)) else 1


def _drilling(project: Project, check: Check, case: Case | None, world: World | None, python: str) -> Drilling:
    """Return everything that one check was shown; where the run's case cannot be broken, that is said and not counted.

    Raises:
        DrillRefusedError, InertSabotageError: the check's own example does not serve.
    """
    assert check.example is not None
    own = break_case(check, check.example())
    proofs, refused = list(own.proofs), ""
    if case is not None and owed(check, case):
        try:
            proofs += (_on_run(proof) for proof in break_case(check, case).proofs)
        except (DrillRefusedError, InertSabotageError) as error:
            refused = str(error).removeprefix(f"{check.id}: ").partition("\n")[0]
    if world is not None:
        proofs += run_world(project, world, check, python)
    return Drilling(check=check.id, proofs=tuple(proofs), unread=own.unread, refused=refused)


def _on_run(proof: Proof) -> Proof:
    return Proof(f"{proof.sabotage} (on this run)", proof.expect, proof.got)


def _dated(drilling: Drilling, run: str) -> Drilled:
    return Drilled(
        check=drilling.check,
        date=today(),
        caught=drilling.caught,
        total=len(drilling.proofs),
        affidavit=__version__,
        run=run,
    )


def _refuse_both(*, run: bool, watch: bool, probe: bool) -> None:
    if run + watch + probe > 1:
        raise click.UsageError("--watch, --probe, and a RUN or --world are three drills: one at a time.")


def _watch(project: Project, as_json: bool) -> int:
    """Let every decoy go wrong, and keep in the ledger how many were called by their right name."""
    drilled = decoys.drill()
    right, total = sum(one.is_right for one in drilled.called), len(drilled.called)
    ledger.append(
        project.ledger_path,
        [Drilled(check="watch", date=today(), caught=right, total=total, affidavit=__version__)],
    )
    if as_json:
        page.say(liveness.drilled_document(drilled.called) | {"not_shown": list(drilled.unshown)})
    else:
        page.show(liveness.drilled(drilled.called))
        page.tell(f"not shown: {one}" for one in drilled.unshown)
    return 0 if 0 < total == right else 1


def _probe(words: str, as_json: bool) -> int:
    found = probes.probe(words)
    if as_json:
        page.say(liveness.probed_document(found))
    else:
        page.show(liveness.probed(found))
    return found.exit_code
