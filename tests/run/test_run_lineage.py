"""What a file holds, which run made it, and what a manifest claims of it: on records that were told."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from affidavit.case import Case, case_of
from affidavit.check import Verdict
from affidavit.check.engine import run
from affidavit.checks.cache_entry_provenance import cache_entry_provenance
from affidavit.fact import folder as names
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.values import Cell, Digest, Table, Value
from affidavit.fact.vocabulary import load
from affidavit.record import chain
from affidavit.record.fold import read_record
from affidavit.run.holding import holds
from affidavit.run.sealing import ensure_sealed

WORDS = load()
ENCODED = json.dumps({"input_ids": [1, 2, 3] * 300, "labels": [1, 2, 3] * 300}) + "\n"
OPENED = ("path", "use", "bytes", "modified")


@pytest.mark.parametrize(
    ("name", "content", "held"),
    [
        ("rows.jsonl", ENCODED, "ids, labels"),
        ("rows.jsonl", '{"input_ids": [1], "attention_mask": [1]}', "ids"),
        ("chats.jsonl", '{"messages": [{"role": "user", "content": "what do labels mask?"}]}', ""),
        ("rows.jsonl", '{"input_ids": [1], "loss_mask": [1]}', "ids, labels"),
        ("config.json", '{"label2id": {"a": 1}, "mask": 3}', ""),
        ("rows.json", '[{"input_ids": [1], "labels": [1]}]', "ids, labels"),
        ("rows.csv", "text,labels\nno ids,1\n", "labels"),
        ("rows.arrow", "\0\0schema\0input_ids\0\0labels\0", "ids, labels"),
        ("train_labels.npy", "\x93NUMPY", "labels"),
        ("train.bin", "\0\0", ""),
    ],
)
def test_what_a_file_holds_is_told_by_its_names(tmp_path: Path, name: str, content: str, held: str) -> None:
    (tmp_path / name).write_text(content)
    assert holds(tmp_path / name) == held


def test_arrow_and_tensors_are_read_as_they_are_written(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    numpy = pytest.importorskip("numpy")
    table = pyarrow.table({"input_ids": [[1, 2]], "attention_mask": [[1, 1]], "labels": [[-100, 2]]})
    with pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    pyarrow.parquet = __import__("pyarrow.parquet").parquet
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    numpy.savez(tmp_path / "a.npz", labels=numpy.zeros(3), tokens=numpy.zeros(3))
    assert {path.suffix: holds(path) for path in tmp_path.iterdir()} == {
        ".arrow": "ids, labels",
        ".parquet": "ids, labels",
        ".npz": "ids, labels",
    }


# --- two runs -----------------------------------------------------------------------------------------------------


class Runs:
    """A project whose runs are told: each leaves the journal that a process with these facts would have left."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".affidavit/runs"

    def tell(
        self, run: str, *, at: float, read: tuple[str, ...] = (), wrote: tuple[str, ...] = (), **facts: Value
    ) -> Path:
        """Seal a run that began at a time, and return its folder."""
        folder = self.folder / run
        folder.mkdir(parents=True)
        launch = names.launch(folder, 0)
        launch.write_text("{}")
        os.utime(launch, (at, at))
        told = {name.replace("__", "."): value for name, value in facts.items()}
        rows = [self._row(name, "read") for name in read] + [self._row(name, "written") for name in wrote]
        self._journal(folder, {"cache.opened": Table(OPENED, tuple(rows)), **told})
        ensure_sealed(folder, WORDS)
        return folder

    def _row(self, name: str, use: str) -> tuple[Cell, ...]:
        status = (self.root / name).stat()
        return (str(self.root / name), use, status.st_size, status.st_mtime)

    def _journal(self, folder: Path, facts: Mapping[str, Value]) -> None:
        process = "node-100-1"
        details = {"attempt": 0, "emits": [], "cwd": str(self.root)}
        journal = Journal(names.journal(folder, process, 0), process=process, details=details)
        journal.write("bound", rank=0, world=1, backend="")
        listing = self._listing(folder)
        for name, value in {**facts, "code.listing": listing}.items():
            known = Known(value, WORDS[name].least, "step 2")
            journal.observe(Observation(name, Aspect.RESOLVED, known, step=2))
        journal.write("live", step=2)
        journal.close("exited")

    def _listing(self, folder: Path) -> Digest:
        """Keep a list of loaded files in which each small JSON file of the project is a config."""
        python = {"kind": "python", "prefix": "/usr", "base_prefix": "/usr", "sites": [], "stdlib": []}
        lines = [python] + [
            {"kind": "config", "path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in sorted(self.root.glob("mask*.json"))
        ]
        content = "\n".join(map(json.dumps, lines)).encode()
        digest = Digest("sha256", hashlib.sha256(content).hexdigest())
        (folder / names.EVIDENCE).mkdir()
        (folder / names.EVIDENCE / digest.hex).write_bytes(content)
        return digest


@pytest.fixture
def told(tmp_path: Path) -> Runs:
    (tmp_path / "rows.jsonl").write_text(ENCODED)
    return Runs(tmp_path)


def _rows(folder: Path, term: str) -> list[dict[str, Cell]]:
    (fact,) = read_record(folder, WORDS).find(term)
    assert isinstance(fact.state, Known) and isinstance(fact.state.value, Table), fact
    return [dict(row) for row in fact.state.value.records()]


ALL, ANSWERS = ("assistant", "user"), ("assistant",)


def test_a_file_is_known_by_its_content_and_by_the_newest_run_that_wrote_it(told: Runs) -> None:
    told.tell("one", at=1000, wrote=("rows.jsonl",), tokens__supervised_roles=ALL)
    told.tell("two", at=2000, wrote=("rows.jsonl",), tokens__supervised_roles=ANSWERS)
    (told.root / "copy.jsonl").write_text(ENCODED)
    for name in ("rows.jsonl", "copy.jsonl"):
        folder = told.tell(f"three-{name}", at=3000, read=(name,))
        (row,) = _rows(folder, "cache.lineage")
        assert (row["run"], row["known_by"], row["term"], row["built"]) == (
            "two",
            "content",
            "tokens.supervised_roles",
            "assistant",
        )


def test_who_came_later_or_changed_it_made_none_of_it(told: Runs) -> None:
    told.tell("later", at=9000, wrote=("rows.jsonl",))
    assert _rows(told.tell("earlier", at=3000, read=("rows.jsonl",)), "cache.lineage") == []
    told.tell("one", at=1000, wrote=("rows.jsonl",))
    (told.root / "rows.jsonl").write_text(ENCODED + ENCODED)
    assert _rows(told.tell("two", at=2000, read=("rows.jsonl",)), "cache.lineage") == []


def _during(folder: Path, file: Path) -> None:
    """Let a file come while a run went on: two seconds after it began, and three before it ended."""
    at = 1002.0
    os.utime(file, (at, at))
    (folder / "ended.0.0.json").touch()
    os.utime(folder / "ended.0.0.json", (at + 3, at + 3))


def test_who_read_what_came_while_it_ran_made_it_and_who_only_ran_may_not_have(told: Runs) -> None:
    """Shards that workers of a run wrote are heard of in none of its processes; a job beside it is another."""
    os.utime(told.root / "rows.jsonl", (1002.0, 1002.0))
    other = told.root / "beside.jsonl"
    other.write_text(ENCODED.replace("1", "4"))
    os.utime(other, (1002.0, 1002.0))
    _during(told.tell("one", at=1000, read=("rows.jsonl",)), other)
    rows = _rows(told.tell("two", at=2000, read=("rows.jsonl", "beside.jsonl")), "cache.lineage")
    assert {(row["path"], row["known_by"]) for row in rows} == {("rows.jsonl", "use"), ("beside.jsonl", "time")}


def test_a_run_that_only_went_on_meanwhile_is_held_to_nothing() -> None:
    value = _built("assistant, user")
    assert isinstance(value, Table)
    for row in range(len(value.rows)):
        value = value.with_cell(row, "known_by", "time")
    case = _case(cache__lineage=value, tokens__supervised_roles=ALL)
    assert run(cache_entry_provenance, case).verdict is Verdict.NOT_APPLICABLE


def test_raw_text_brings_no_facts_along(told: Runs) -> None:
    (told.root / "chats.jsonl").write_text('{"messages": []}\n' * 100)
    told.tell("one", at=1000, wrote=("chats.jsonl",), tokens__supervised_roles=ALL)
    (row,) = _rows(told.tell("two", at=2000, read=("chats.jsonl",)), "cache.lineage")
    assert (row["holds"], row["term"]) == ("", "")


def _claims(told: Runs, text: str, **manifest: str) -> list[dict[str, Cell]]:
    """Return what is said of a manifest where run one had built without a mask, and run two has one."""
    told.tell("one", at=1000, wrote=("rows.jsonl",))
    mask = told.root / "mask.json"
    mask.write_text(text)
    sha256 = hashlib.sha256(mask.read_bytes()).hexdigest()
    claimed = {key: value or sha256 for key, value in manifest.items()}
    (told.root / "manifest.json").write_text(json.dumps({"inputs": claimed}))
    return _rows(told.tell("two", at=2000, read=("rows.jsonl",)), "cache.claims")


def test_a_claim_is_held_against_what_the_build_had_read(told: Runs) -> None:
    (row,) = _claims(told, "{}", impersonation_mask_sha256="")
    assert (row["key"], row["file"], row["run"], row["read"]) == ("impersonation_mask_sha256", "mask.json", "one", "")


def test_what_the_build_had_read_is_named_where_it_was_another(told: Runs) -> None:
    (told.root / "mask.json").write_text("[]")
    (row,) = _claims(told, "{}", mask_sha256="")
    assert row["read"] == hashlib.sha256(b"[]").hexdigest()


@pytest.mark.parametrize("key", ["model_sha256", "config_sha256", "data_sha256"])
def test_a_claim_of_what_is_not_in_an_encoding_is_nobody_s_business(told: Runs, key: str) -> None:
    assert _claims(told, "{}", **{key: ""}) == []


def test_a_digest_of_what_is_in_no_file_is_not_judged(told: Runs) -> None:
    assert _claims(told, "{}", mask_sha256="ab" * 32) == []


# --- the check ----------------------------------------------------------------------------------------------------


def _case(**changes: Value) -> Case:
    example = cache_entry_provenance.example
    assert example is not None
    case = example()
    values = {fact.name: fact.state.value for fact in case.subject.facts if isinstance(fact.state, Known)}
    return case_of(run={**values, **{name.replace("__", "."): value for name, value in changes.items()}})


def _built(roles: str) -> Value:
    value = _case().value("cache.lineage")
    assert isinstance(value, Table)
    return value.with_cell(0, "built", roles)


def test_an_encoding_is_no_fault_where_the_run_trains_on_what_it_asks_for() -> None:
    """The collator masks what the cache did not: that is no contradiction."""
    case = _case(cache__lineage=_built("assistant, user"), tokens__supervised_roles=ANSWERS)
    assert run(cache_entry_provenance, case).verdict is Verdict.PASS


def test_nobody_asked_so_nothing_is_contradicted() -> None:
    changes: dict[str, Value] = {"tokens__supervision_requested": "unstated", "tokens__supervised_roles": ALL}
    case = _case(cache__lineage=_built("assistant, user"), **changes)
    assert run(cache_entry_provenance, case).verdict is Verdict.PASS


def test_what_the_lock_holds_is_asked_for() -> None:
    changes: dict[str, Value] = {"tokens__supervision_requested": "unstated", "tokens__supervised_roles": ALL}
    case = _case(cache__lineage=_built("assistant, user"), **changes)
    lock = case_of(lock={"tokens.supervised_roles": ANSWERS}).records["lock"]
    finding = run(cache_entry_provenance, case.with_record("lock", lock))
    assert finding.verdict is Verdict.FAIL
    assert "built by run 20260101T120000Z-1f2e3d for tokens of assistant, user" in finding.message


def test_a_correction_of_the_build_takes_its_word_back(told: Runs) -> None:
    folder = told.tell("one", at=1000, wrote=("rows.jsonl",), tokens__supervised_roles=ALL)
    chain.annotate(
        folder,
        falls=["tokens.supervised_roles"],
        survives=["cache.files"],
        reason="the template had no markers",
        author="Somebody",
    )
    second = told.tell("two", at=2000, read=("rows.jsonl",))
    (row,) = _rows(second, "cache.lineage")
    assert row["term"] == ""  # there is nothing left to say of it
