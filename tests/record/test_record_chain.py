"""A correction says what falls, survives and was not looked at; a chain that was touched says so."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from record_world import FLASH, THEN, WORDS, document, fact, record, sealed

from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.record import chain, fold, seal
from affidavit.record.annotation import Annotation, AnnotationError, Extent
from affidavit.record.chain import ChainError
from affidavit.record.seal import SealError

EXECUTED, KERNELS = "attention.executed", "attention.kernels"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sealed run with two subjects, and one fact that was derived from another."""
    return sealed(
        tmp_path,
        fact(EXECUTED, FLASH),
        fact(KERNELS, ("flash",)),
        fact("tokens.rows_examined", 4),
        fact("tokens.supervised_roles", ("assistant",)),
        fact("adapter.kind", "lora", request="lora"),
    )


def correct(run: Path, *falls: str, survives: tuple[str, ...] = (), reason: str = "the probe was wrong") -> Annotation:
    return chain.annotate(run, falls=falls, survives=survives, reason=reason, author="ada", time=THEN)


def test_what_nobody_looked_at_is_computed_and_folded_by_subject(run: Path) -> None:
    made = correct(run, EXECUTED, survives=("adapter.*",))
    assert (made.falls, made.survives) == ((EXECUTED,), ("adapter.kind",))
    assert made.not_reviewed == ("tokens.*",), "what is derived from a fallen fact fell, and is not merely unreviewed"
    assert correct(run, "tokens.rows_examined").not_reviewed == ("adapter.kind", "tokens.supervised_roles")


@pytest.mark.parametrize(
    ("falls", "kind"), [((), Extent.NOTE), ((EXECUTED,), Extent.ERRATUM), (("*",), Extent.RETRACTION)]
)
def test_its_extent_follows_from_what_falls(run: Path, falls: tuple[str, ...], kind: Extent) -> None:
    assert correct(run, *falls).kind is kind


def test_each_is_chained_to_the_one_before_and_the_first_to_the_manifest(run: Path) -> None:
    first, second = correct(run, EXECUTED), correct(run, "tokens.*")
    assert first.prev == first.about == str(seal.read_sealed(run).digest)
    assert second.prev != first.prev and second.seq == 2
    assert chain.read(run) == (first, second)
    assert chain.verify_chain(run) == ()
    assert seal.read_head(run).count == 2


@pytest.mark.parametrize(
    ("falls", "survives", "reason", "why"),
    [
        (("attention.exected",), (), "x", 'holds nothing named "attention.exected"; did you mean "attention.executed"'),
        (("tokns.*",), (), "x", 'holds nothing named "tokns.*"'),
        (("code.commit",), (), "x", 'holds nothing named "code.commit"'),
        ((EXECUTED,), (EXECUTED,), "x", "both falls and survives"),
        (("attention.*",), (EXECUTED,), "x", "both falls and survives"),
        ((EXECUTED,), (KERNELS,), "x", "derived from what falls"),
        ((EXECUTED,), (), " \n", "no reason"),
    ],
)
def test_a_correction_that_cannot_be_read_one_way_is_refused(
    run: Path, falls: tuple[str, ...], survives: tuple[str, ...], reason: str, why: str
) -> None:
    with pytest.raises(AnnotationError) as caught:
        correct(run, *falls, survives=survives, reason=reason)
    assert why in str(caught.value)
    assert not (run / "annotations.jsonl").exists(), "nothing was written"


def test_all_complaints_come_at_once(run: Path) -> None:
    with pytest.raises(AnnotationError) as caught:
        chain.annotate(run, falls=["nope.x"], survives=["nope.y"], reason="", author="")
    assert all(part in str(caught.value) for part in ("nope.x", "nope.y", "no reason", "no author"))


def test_nothing_raises_a_fallen_fact_again(run: Path) -> None:
    correct(run, EXECUTED)
    with pytest.raises(AnnotationError, match=r"attention\.kernels fell with an earlier correction"):
        correct(run, "adapter.kind", survives=(KERNELS,))


def test_the_sealed_bytes_are_never_touched(run: Path) -> None:
    before = (run / "manifest.json").read_bytes()
    correct(run, "*")
    assert (run / "manifest.json").read_bytes() == before


def _annotate(run: str, number: int, start: Barrier) -> None:
    start.wait(30)
    for turn in range(5):
        chain.annotate(Path(run), falls=["adapter.kind"], reason=f"reason {number}.{turn}", author="ada")


def test_writers_at_the_same_time_make_one_chain(run: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    writers = [context.Process(target=_annotate, args=(str(run), number, start)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert [writer.exitcode for writer in writers] == [0] * 3
    assert sorted(one.reason for one in chain.read(run)) == [
        f"reason {number}.{turn}" for number in range(3) for turn in range(5)
    ]
    assert chain.verify_chain(run) == ()


def _edit(lines: list[bytes]) -> list[bytes]:
    return [lines[0].replace(b"the probe was wrong", b"the probe was right"), *lines[1:]]


def _spaced(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], json.dumps(json.loads(lines[2])).encode()]


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        (_edit, "#2 does not follow"),
        (lambda lines: [lines[0], lines[2]], "#2 does not follow"),
        (lambda lines: [lines[1], lines[0], lines[2]], "#1 does not follow"),
        (lambda lines: lines[:2], "cut short: head.json counts 3, 2 are there"),
        (lambda lines: [], "cut short: head.json counts 3, 0 are there"),
        (lambda lines: [*lines[:2], lines[2].replace(b"ada", b"eve")], "#3 is not the one that head.json names"),
        (_spaced, "#3 is not written as we write it"),
        (lambda lines: [*lines[:2], b'{"seq":3}'], "#3 is no annotation"),
        (lambda lines: [*lines[:2], b'{"seq":3,"seq":3}'], "stands twice"),
        (lambda lines: [*lines[:2], b"\xff"], "#3 is no annotation"),
    ],
    ids=[
        "edited",
        "deleted",
        "reordered",
        "truncated",
        "emptied",
        "last edited",
        "respaced",
        "gutted",
        "doubled",
        "bytes",
    ],
)
def test_a_chain_that_was_touched_is_told_and_not_read(
    run: Path, attack: Callable[[list[bytes]], list[bytes]], why: str
) -> None:
    for falls in (EXECUTED, "adapter.kind", "tokens.*"):
        correct(run, falls)
    path = run / "annotations.jsonl"
    lines = attack(path.read_bytes().splitlines())
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert any(why in problem for problem in chain.verify_chain(run)), chain.verify_chain(run)
    with pytest.raises(ChainError, match="Nobody can say which facts"):
        fold.read_record(run)
    with pytest.raises(ChainError):
        correct(run, "adapter.kind")


def test_a_removed_chain_is_told(run: Path) -> None:
    correct(run, EXECUTED)
    (run / "annotations.jsonl").unlink()
    assert chain.verify_chain(run) == ("cut short: head.json counts 1, 0 are there",)


def test_a_linked_chain_is_not_followed(run: Path) -> None:
    (run / "annotations.jsonl").symlink_to("/dev/zero")
    with pytest.raises(ChainError, match="symbolic link"):
        chain.read(run)


def test_a_chain_of_another_run_is_told(run: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = sealed(tmp_path_factory.mktemp("other"), fact("adapter.kind", "none"))
    correct(run, EXECUTED)
    (other / "annotations.jsonl").write_bytes((run / "annotations.jsonl").read_bytes())
    assert any("does not follow" in problem for problem in chain.verify_chain(other))


def test_an_append_that_did_not_finish_is_heeded_and_told(run: Path) -> None:
    correct(run, "adapter.kind")
    head = (run / "head.json").read_bytes()
    correct(run, EXECUTED)
    (run / "head.json").write_bytes(head)
    assert chain.verify_chain(run) == ("head.json counts 1, 2 are there: an append that did not finish",)
    assert len(chain.read(run)) == 2, "a correction only takes trust away, so it holds at once"
    correct(run, "tokens.*")
    assert chain.verify_chain(run) == (), "the next append finishes it"


def test_a_run_that_is_not_sealed_has_nothing_to_correct(tmp_path: Path) -> None:
    with pytest.raises(SealError, match="never sealed"):
        correct(tmp_path, EXECUTED)


def test_a_fallen_fact_is_unknown_to_every_reader_and_so_is_what_came_of_it(run: Path) -> None:
    correct(run, "adapter.kind")
    correct(run, EXECUTED, reason="the profiler saw the warm-up")
    correct(run, EXECUTED, reason="again")
    states = {found.name: found for found in fold.read_record(run, WORDS).facts}
    assert states[EXECUTED].state == Unknown(Cause.FALLS, "FALLS since #2: the profiler saw the warm-up")
    assert states[KERNELS].state == Unknown(
        Cause.FALLS, "FALLS since #2 with attention.executed: the profiler saw the warm-up"
    )
    assert states["adapter.kind"].state == Unknown(Cause.FALLS, "FALLS since #1: the probe was wrong")
    assert states["adapter.kind"].request is None, "what was asked fell with it"
    assert isinstance(states["tokens.rows_examined"].state, Known)


def test_readers_are_told_of_every_correction(run: Path) -> None:
    correct(run, EXECUTED, survives=("adapter.kind",))
    (note,) = fold.read_record(run).notes
    assert note == (
        "erratum #1 (ada, 2026-11-30): the probe was wrong "
        "(falls: attention.executed; survives: adapter.kind; not reviewed: tokens.*)"
    )


def test_a_retraction_falls_whole_and_not_name_by_name(run: Path) -> None:
    correct(run, "*")
    (note,) = fold.read_record(run).notes
    assert note == "retraction #1 (ada, 2026-11-30): the probe was wrong (falls: everything)"


def test_without_corrections_the_fold_is_the_record(run: Path) -> None:
    record = fold.read_record(run, WORDS)
    assert fold.fold(record, ()) == record
    assert all(isinstance(found.state, Known) for found in record.facts)


def test_a_correction_that_would_make_the_chain_unreadable_is_not_written(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    correct(run, EXECUTED)
    monkeypatch.setattr(chain, "CHAIN_BYTES", 2000)
    with pytest.raises(AnnotationError, match="2,000 are read"):
        chain.annotate(run, reason="x" * 2000, author="ada")
    assert len(chain.read(run)) == 1


def test_a_seal_that_another_takes_the_place_of_meanwhile_is_not_broken(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A requeued job ends while somebody types: what they say is then about its seal, and breaks none."""

    @contextlib.contextmanager
    def too_late(folder: Path) -> Iterator[None]:
        for name in ("manifest.json", "head.json"):
            (folder / name).unlink()
        seal.seal(folder, document(record(fact(EXECUTED, FLASH))))
        yield

    monkeypatch.setattr(chain.file, "alone", too_late)
    made = correct(run, EXECUTED)
    assert chain.read(run) == (made,) and made.about == str(seal.read_sealed(run).digest)


def test_an_append_that_another_writer_replaced_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swallow(*_: object) -> None:
        """Stand for a file system without locks, on which a later writer has put its own chain in place of ours."""

    monkeypatch.setattr(chain.file, "replace", swallow)
    with pytest.raises(ChainError, match="another writer replaced it"):
        correct(run, EXECUTED)
