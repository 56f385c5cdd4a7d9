"""``affidavit drill``: break what the checks guard, and see each of them say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from affidavit import __version__
from affidavit.boot import load_instruments
from affidavit.case import Case, InertSabotageError, Need
from affidavit.check.digest import digest_of
from affidavit.check.drill import DrillRefusedError, Proof
from affidavit.check.drill import drill as break_case
from affidavit.check.engine import owed
from affidavit.check.rule import Check
from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here, today
from affidavit.cli.world import World, run_world, worlds
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import ledger
from affidavit.record.ledger import Drilled, Instrument
from affidavit.record.lines import refuse_unwritable
from affidavit.report import liveness
from affidavit.report.drill import Drilling, document, gate_document, gate_lines, lines
from affidavit.run.liveness import decoys
from affidavit.run.liveness import probe as probes
from affidavit.run.proofs import gates as proofs
from affidavit.run.proofs import observers
from affidavit.run.proofs.copied import installed_from
from affidavit.run.proofs.observers import Contrast
from affidavit.run.proofs.standing import WATCH, gate_line, watch_code


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
@click.option("--gates", is_flag=True, help="Plant in a copy of the tree what each [[gate]] must say no to.")
@json_option
def command(run: str, world: Path | None, python: str, watch: bool, probe: str, gates: bool, as_json: bool) -> int:
    """Prove that the checks can fail: every sabotage on each check's own example, and on a RUN where it passes.

    What was caught goes into instruments.jsonl with today's date. Exit code 1 where a sabotage was missed. With --world
    so do the instruments of which a fact was another one in a fault than in its twin.

    With --gates the gates of affidavit.toml are drilled: each says yes to a copy of the tree, and must say no to one in
    which its sabotage was planted. With --watch decoys go wrong, and with --probe a command of yours is asked for a
    target that cannot exist. Its name stands for {} or in $AFFIDAVIT_TARGET. Dead is an exit code that is not 0, or an
    output unlike that for a process that lives under such a name.
    """
    project = here()
    if not probe:
        refuse_unwritable(project.ledger_path)
    if watch or probe or gates:
        _refuse_several(run or world, watch, probe, gates)
        if gates:
            return _gates(project, python, as_json)
        return _probe(probe, as_json) if probe else _watch(project, as_json)
    found = project.find(run) if run else None
    case = judged(project, found).case if found else None
    held = {one.name: one for one in worlds(world)} if world is not None else {}
    contrasts: list[Contrast] = []

    def shown(world: World, check: Check | None) -> tuple[Proof, ...]:
        contrasts.append(Contrast(frozenset(Need.parse(need).name for need in check.reads) if check else frozenset()))
        return tuple(run_world(project, world, check, python, contrasts[-1]))

    drillings = [_drilling(check, case, held.pop(check.id, None), shown) for check in project.checks]
    rest = [Drilling(check=one.folder.name, proofs=shown(one, None)) for one in held.values()]
    code = {check.id: digest_of(check) for check in project.checks}
    run_id = found.id if found else ""
    dated = [_dated(drilling, run_id, code[drilling.check]) for drilling in drillings]
    ledger.append(project.ledger_path, [*dated, *_observers(project, contrasts)])
    if as_json:
        page.say(document([*drillings, *rest]))
    else:
        page.show(lines([*drillings, *rest]))
    return 0 if all(drilling.is_proof for drilling in (*drillings, *rest)) else 1


def _observers(project: Project, contrasts: Sequence[Contrast]) -> Iterator[Instrument]:
    """Yield a line for each instrument that was seen to tell a fault from its twin."""
    if contrasts:
        _, instruments = load_instruments(project.house.plugins)
        yield from observers.proved(contrasts, {one.name: tuple(one.emits) for one in instruments}, today())


def _drilling(
    check: Check, case: Case | None, world: World | None, shown: Callable[[World, Check], tuple[Proof, ...]]
) -> Drilling:
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
        proofs += shown(world, check)
    return Drilling(check=check.id, proofs=tuple(proofs), unread=own.unread, refused=refused)


def _on_run(proof: Proof) -> Proof:
    return Proof(f"{proof.sabotage} (on this run)", proof.expect, proof.got)


def _dated(drilling: Drilling, run: str, code: str) -> Drilled:
    return Drilled(
        check=drilling.check,
        date=today(),
        caught=drilling.caught,
        total=len(drilling.proofs),
        affidavit=__version__,
        run=run,
        code=code,
    )


def _refuse_several(*asked: object) -> None:
    if sum(map(bool, asked)) > 1:
        raise AffidavitError(
            refusal(
                subject="drill",
                expected="one of four drills: --watch, --probe, --gates, or a RUN or --world",
                saw=f"{sum(map(bool, asked))} of them",
                means="Each says another thing, and no exit code can say two.",
                action="Ask for one at a time.",
                unaffected=f"{names.LEDGER}, to which nothing was added",
            )
        )


def _gates(project: Project, python: str, as_json: bool) -> int:
    """Prove every gate of the project, keep in the ledger what came of it, and return 1 for INERT, 4 for no proof."""
    declared = project.settings.gates
    if not declared:
        raise AffidavitError(
            refusal(
                subject="drill --gates",
                expected=f"a [[gate]] in {names.SETTINGS}",
                saw="none",
                means="There is no gate to prove, and that is no proof.",
                action="Declare one with its command and its sabotage.",
                unaffected=f"{names.LEDGER}, to which nothing was added",
            )
        )
    found = tuple(_proved_gates(project, python))
    ledger.append(project.ledger_path, [line for line in found if line.word != proofs.ERROR])
    if as_json:
        page.say(gate_document(found))
    else:
        page.show(gate_lines(found))
    words = {line.word for line in found}
    return 1 if proofs.INERT in words else 4 if proofs.ERROR in words else 0


def _proved_gates(project: Project, python: str) -> Iterator[Instrument]:
    interpreter = shutil.which(python)
    own = installed_from(project.root, Path(interpreter) if interpreter else None, os.environ)
    for gate in project.settings.gates:
        proved = proofs.prove(gate, project.root, os.environ, own=own)
        yield gate_line(gate, proved, project.root, today())


def _watch(project: Project, as_json: bool) -> int:
    """Let every decoy go wrong, and keep in the ledger how many were called by their right name."""
    drilled = decoys.drill()
    right, total = sum(one.is_right for one in drilled.called), len(drilled.called)
    ledger.append(
        project.ledger_path,
        [
            Instrument(
                kind=WATCH,
                name="decoys",
                date=today(),
                caught=right,
                total=total,
                affidavit=__version__,
                word=proofs.PROVED if 0 < total == right else proofs.INERT,
                on=watch_code(),
                missed=tuple(one.name for one in drilled.called if not one.is_right),
                seconds=round(sum(one.seconds for one in drilled.called), 3),
            )
        ],
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
