"""What somebody else wrote down becomes a record that can be shown, compared and retracted, and passes no check."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.desk import WORDS, Desk, desk

from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Layers
from affidavit.record.compare import differ
from affidavit.record.record import Fact, Kind, Record

CARD = """---
license: apache-2.0
base_model: somebody/base
tags: [sft, trl]
---
# A model

- learning_rate: 5e-04
- train_batch_size: 4
- gradient_accumulation_steps: 2
- total_train_batch_size: 8
- optimizer: Use OptimizerNames.ADAMW_TORCH_FUSED with betas=(0.9,0.999) and epsilon=1e-08
- lr_scheduler_type: SchedulerType.COSINE
- num_epochs: 3.0
- mixed_precision_training: Native AMP
"""
SECRET = "hf_" + "abcdefghijklmnopqrstuvwxyz012345"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A checkpoint folder as somebody would publish it."""
    folder = tmp_path / "their-model"
    folder.mkdir()
    (folder / "README.md").write_text(CARD)
    (folder / "config.json").write_text(json.dumps({"dtype": "bfloat16", "_attn_implementation": "eager", "layers": 2}))
    adapter = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["v_proj", "q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(adapter | {"lora_dropout": 0.05}))
    log = [{"step": step, "loss": float("nan"), "learning_rate": 0.1} for step in range(200)]
    state = {"global_step": 200, "max_steps": 200, "train_batch_size": 4, "log_history": log}
    (folder / "trainer_state.json").write_text(json.dumps(state))
    (folder / "generation_config.json").write_text(json.dumps({"max_length": 20, "batch_size": 7}))
    (folder / "training_args.bin").write_bytes(pickle.dumps(Path("/")))
    return folder


def _facts(at: Desk, record: str) -> dict[str, Any]:
    return {fact["term"]: fact for fact in at.document("show", record)["facts"]}


def _value(fact: dict[str, Any]) -> Any:
    (value,) = fact["resolved"]["value"].values()
    return value


def test_a_folder_is_read_as_data_under_our_terms(project: Desk, theirs: Path) -> None:
    said = project.document("adopt", str(theirs))
    assert said["new"] is True
    assert said["unread"] == ["training_args.bin, a pickle, which is never read"]
    facts = _facts(project, said["record"])
    assert {name: _value(fact) for name, fact in facts.items() if not name.startswith(("foreign.", "adapter.s"))} == {
        "adapter.kind": "lora",
        "adapter.targets": ["q_proj", "v_proj"],
        "attention.requested": "eager",
        "batch.accumulation": 2,
        "batch.effective": 8,
        "batch.rows": 4,
        "loop.epochs": 3.0,
        "loop.planned_steps": 200,
        "loop.steps": 200,
        "optimizer.kind": "AdamW",
        "optimizer.learning_rate": 0.0005,
        "precision.requested": "fp16",
        "precision.weight_types": ["bfloat16"],
        "schedule.kind": "cosine",
    }
    assert _value(facts["adapter.settings"]) == [
        ["q_proj", "rank 8, scale 2, dropout 0.05"],
        ["v_proj", "rank 8, scale 2, dropout 0.05"],
    ]
    assert {fact["resolved"]["method"] for name, fact in facts.items() if name != "foreign.files"} == {"DECLARED"}
    assert facts["batch.rows"]["resolved"]["source"] in ("trainer_state.json:train_batch_size",)


def test_nothing_that_is_said_is_lost(project: Desk, theirs: Path) -> None:
    record = project.document("adopt", str(theirs))["record"]
    rows = dict(_value(_facts(project, record)["foreign.values"])["rows"])
    assert rows["README.md:front matter.base_model"] == "somebody/base"
    assert rows["README.md:front matter.tags"] == "sft, trl"
    assert rows["generation_config.json:max_length"] == "20"
    assert rows["trainer_state.json:log_history.items"] == "200"
    assert rows["trainer_state.json:log_history.199.loss"] == "nan"
    kept = project.root / ".affidavit/runs" / record / "evidence"
    card = hashlib.sha256(CARD.encode()).hexdigest()
    assert (kept / card).read_text() == CARD
    pickled = hashlib.sha256((theirs / "training_args.bin").read_bytes()).hexdigest()
    assert not (kept / pickled).exists()


def test_adopting_twice_is_adopting_once(project: Desk, theirs: Path, tmp_path: Path) -> None:
    first = project.document("adopt", str(theirs))
    shutil.copytree(theirs, tmp_path / "again")
    second = project.document("adopt", str(tmp_path / "again"), "--name", "other")
    assert (second["record"], second["new"]) == (first["record"], False)
    (theirs / "config.json").write_text("{}")
    assert project.document("adopt", str(theirs))["new"] is True


def test_a_name_is_given_and_found_again(project: Desk, theirs: Path) -> None:
    said = project.document("adopt", str(theirs / "README.md"), "--name", "Their Card!")
    assert said["record"].startswith("adopted-their-card-")
    assert project.type("show", "adopted-their").exit_code == 0
    assert project.document("ls")["runs"][0]["run"] == said["record"]


def test_what_was_only_declared_satisfies_no_check(project: Desk, theirs: Path) -> None:
    record = project.document("adopt", str(theirs))["record"]
    said = project.document("show", record)
    assert {finding["verdict"] for finding in said["findings"]} == {"UNKNOWN"}
    assert project.type("check", record).exit_code == 4
    assert project.type("verify", record).exit_code == 0


def test_the_last_run_is_never_an_adopted_one(copied: Desk, theirs: Path) -> None:
    before = copied.document("show", "last")["subject"]
    copied.type("adopt", str(theirs))
    assert copied.document("show", "last")["subject"] == before
    nothing = desk(copied.root.parent / "empty")
    nothing.type("adopt", str(theirs))
    assert nothing.type("show", "last").exit_code == 2


def test_a_card_is_held_against_a_run_in_terms_that_both_know(copied: Desk, theirs: Path) -> None:
    record = copied.document("adopt", str(theirs))["record"]
    ended = copied.type("diff", record, "last")
    assert ended.exit_code == 1
    assert "declared only, by README.md:settings.learning_rate" in " ".join(ended.stdout.split())


@pytest.mark.parametrize(("rank", "differs"), [(8, False), (4, True)])
def test_an_adapter_is_held_against_every_module_that_ran(rank: int, differs: bool) -> None:
    """A config names no module by its path, and a run names each."""
    said = Layers.of({"q_proj": f"rank {rank}, scale 2, dropout 0"})
    ran = Layers.of({f"layers.{layer}.q_proj": "rank 8, scale 2, dropout 0" for layer in range(4)})
    theirs, ours = (
        Record(
            kind=kind,
            subject="",
            facts=(Fact(name="adapter.settings", state=Known(value, Method.DECLARED, ""), ranks=(0,)),),
            vocabulary=WORDS,
        )
        for kind, value in ((Kind.FOREIGN, said), (Kind.RUN, ran))
    )
    assert bool(differ(theirs, ours, ["adapter.settings"])) is differs
    assert differ(replace(theirs, kind=Kind.RUN), ours, ["adapter.settings"])


def test_a_published_card_is_retracted_like_a_run(project: Desk, theirs: Path) -> None:
    record = project.document("adopt", str(theirs / "README.md"))["record"]
    falls = ("--falls", "optimizer.*", "--survives", "batch.*", "--reason", "the log says 1e-4", "--author", "Ada")
    assert project.type("annotate", record, *falls).exit_code == 0
    ended = project.type("whence", str(theirs / "README.md"))
    assert ended.exit_code == 1
    assert ended.stdout.startswith("erratum #1 (Ada, ")
    assert f"adopted     {record}" in ended.stdout
    assert "1 of 1 file as adopted" in " ".join(ended.stdout.split())


def test_weights_beside_an_adopted_card_are_not_vouched_for(project: Desk, theirs: Path) -> None:
    project.type("adopt", str(theirs))
    (theirs / "model.safetensors").write_bytes(b"weights")
    said = json.loads(project.type("whence", str(theirs), "--json").stdout)
    assert said["run"].startswith("adopted-")
    assert [one["name"] for one in said["files"] if one["state"] == "not written by this run"] == ["model.safetensors"]


def test_no_secret_is_kept(project: Desk, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"hub_token": SECRET, "nested": {"api_key": {"value": "plain"}}, "note": f"x {SECRET}"}))
    said = project.document("adopt", str(path))
    kept = [one for one in (project.root / ".affidavit").rglob("*") if one.is_file()]
    assert not [one for one in kept if SECRET.encode() in one.read_bytes() or b"plain" in one.read_bytes()]
    assert any("not its bytes" in note for note in said["notes"])


@pytest.mark.parametrize(
    ("name", "content", "term", "value"),
    [
        ("run.toml", "lr = 0.01\n[lora]\nr = 4\n", "optimizer.learning_rate", 0.01),
        ("run.yaml", "micro_batch_size: 2\nbf16: true\n", "precision.requested", "bf16"),
        ("run.json", '{"train": {"weight_decay": "0.1"}}', "optimizer.weight_decay", 0.1),
        ("run.json", '{"max_seq_length": 2048}', "batch.longest", 2048),
        ("run.json", '{"gradient_checkpointing": true}', "model.checkpointing", "on"),
        ("run.json", '{"optim": "paged_adamw_8bit"}', "optimizer.kind", "paged_adamw_8bit"),
    ],
)
def test_each_notation_and_each_name(
    project: Desk, tmp_path: Path, name: str, content: str, term: str, value: object
) -> None:
    (tmp_path / name).write_text(content)
    fact = _facts(project, project.document("adopt", str(tmp_path / name))["record"])[term]
    (found,) = (fact["requested"] or fact["resolved"])["value"].values()
    assert found == value


HOSTILE = {
    "two words.json": '{"lr": 1, "lr": 2}',
    "deep.json": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "nested.json": '{"a":' * 200 + "1" + "}" * 200,
    "list.json": "[1, 2]",
    "cut.json": '{"lr": ',
    "empty.json": "",
    "no object.toml": "= 3",
    "bomb.yaml": "a: &a [x, x]\nb: [*a, *a]\n",
    "object.yaml": "a: !!python/object/apply:os.system ['true']\n",
    "doubled.yaml": "lr: 1\nlr: 2\n",
    "no text.json": b"\xff\xfe{}",
    "prose.md": "# A model\n\nIt is good.\n",
    "args.bin": pickle.dumps({"lr": 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_broken_or_hostile_is_refused_in_words(project: Desk, tmp_path: Path, name: str) -> None:
    content = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = project.type("adopt", str(path))
    assert ended.exit_code == 2, ended.output
    assert ended.stderr.startswith(f"adopt {path}: expected a JSON, TOML or YAML object"[:60])
    assert not (project.root / ".affidavit/runs").exists()


def test_what_is_not_there_is_refused(project: Desk, tmp_path: Path) -> None:
    assert project.type("adopt", str(tmp_path / "nothing.json")).exit_code == 2
    assert project.type("adopt", str(tmp_path)).exit_code == 2


def test_without_pyyaml_a_card_is_read_as_far_as_it_goes(
    project: Desk, theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "yaml", None)
    said = project.document("adopt", str(theirs / "README.md"))
    assert "optimizer.learning_rate" in said["terms"]
    assert any("PyYAML is not installed" in note for note in said["notes"])
    (tmp_path / "run.yaml").write_text("lr: 1\n")
    assert "pip install pyyaml" in project.type("adopt", str(tmp_path / "run.yaml")).stderr


def test_a_long_document_is_cut_and_says_so(project: Desk, tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps({f"key{number}": "x" * 400 for number in range(5000)}))
    record = project.document("adopt", str(path))["record"]
    rows = _value(_facts(project, record)["foreign.values"])["rows"]
    assert len(rows) == 1501 and rows[-1][0] == "and 3500 more"


def test_two_files_that_disagree_are_both_told(project: Desk, theirs: Path) -> None:
    (theirs / "trainer_state.json").write_text(json.dumps({"train_batch_size": 16}))
    said = project.document("adopt", str(theirs))
    assert any(
        note.startswith("batch.rows: 16 (trainer_state.json") and "4 (README.md" in note for note in said["notes"]
    )
