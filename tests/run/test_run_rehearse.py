"""What a rehearsal says beside its record: what it was kept from, and what only the real run can show."""

from __future__ import annotations

import sys
from pathlib import Path

from run_world import LIGHT, Project

from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.record import seal
from affidavit.record.fold import read_record
from affidavit.record.record import Kind
from affidavit.run.rehearse import on_another_seat, rehearsed
from affidavit.run.sealing import ensure_sealed
from affidavit.run.supervise import supervise


def _rehearse(project: Project) -> Path:
    """Rehearse a script that trains, and writes over a file that was there before it."""
    kept, scratch = project.root / "model.txt", project.root / "scratch"
    kept.write_text("last week's weights")
    scratch.mkdir()
    script = project.root / "overwrites.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(LIGHT[1]).parent)!r}); import light\n"
        f"code = light.main()\nopen({str(kept)!r}, 'w').write('new')\nsys.exit(code)\n"
    )
    prepared = project.prepare(sys.executable, str(script), str(scratch), "--steps=4", kind=Kind.REHEARSAL)
    assert supervise(prepared).code == 0
    ensure_sealed(prepared.folder)
    assert kept.read_text() == "last week's weights"
    return prepared.folder


def test_what_it_was_kept_from_is_told_and_sealed(project: Project) -> None:
    folder = _rehearse(project)
    sealed = seal.read_sealed(folder).manifest
    told = rehearsed(folder, read_record(folder))
    assert sealed.kind is Kind.REHEARSAL
    assert told.vetoed == (f"rehearsal: vetoed write {project.root / 'model.txt'}",)
    assert set(told.vetoed) <= set(sealed.notes)
    assert told.seat_bound == ("attention.executed", "attention.kernels")
    assert not (folder / "scratch").exists(), "copies of the user's files are no part of the record"


def test_on_another_machine_what_depends_on_it_is_judged_in_the_real_run(project: Project) -> None:
    record = read_record(_rehearse(project))
    same = on_another_seat(record, host="a", here="a")
    assert same == record
    there = on_another_seat(record, host="a", here="b")
    for fact in there.facts:
        if record.vocabulary[fact.name].seat:
            assert isinstance(fact.state, Unknown) and fact.state.cause is Cause.OTHER_SEAT
            assert fact.state.why == "rehearsed on a, run on b"
    (kind,) = there.find("adapter.kind")
    assert isinstance(kind.state, Known)


def test_a_run_that_was_kept_from_nothing_says_so(project: Project) -> None:
    prepared = project.prepare("true")
    supervise(prepared)
    ensure_sealed(prepared.folder)
    told = rehearsed(prepared.folder, read_record(prepared.folder))
    assert told.vetoed == () and told.seat_bound == ()
