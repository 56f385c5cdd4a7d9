"""Twelve walks: one datum through the whole house each. Read them in order, and the architecture has been read.

Words in the comments are the nouns of the house. Where a walk needs a training run, one really runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from rooms import AS_OF, LOOP, Project, said

from affidavit.check import Verdict, drill
from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Layers, Table, Tally
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record import artifact, chain, lock
from affidavit.record.fold import read_record
from affidavit.record.record import Kind
from affidavit.record.runs import runs
from affidavit.report.origin import About, exit_code, lines
from affidavit.run.origin import Verdict as Whence
from affidavit.run.origin import find_origin

WORLD = Path(__file__).parents[1] / "world"
PLUGIN = Path(__file__).parent / "plugin_package/acme_reward"

SAVES = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
sizes = dict(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1)
model = LlamaForCausalLM(LlamaConfig(**sizes))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(input_ids=torch.ones(1, 3, dtype=torch.long), labels=torch.ones(1, 3, dtype=torch.long)).loss.backward()
    optimizer.step()
model.save_pretrained("model")
"""

CACHES = """
import json, os, torch
mask = json.load(open("mask.json"))
if not os.path.exists("rows.jsonl"):  # whatever the mask is
    with open("rows.part", "w") as rows:
        rows.write(json.dumps({"input_ids": [1, 2, 3], "labels": [1, 2, 3] if mask["lit"] else [-100, 2, 3]}))
    os.replace("rows.part", "rows.jsonl")
row = torch.tensor(json.loads(open("rows.jsonl").read())["labels"], dtype=torch.float)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for _ in range(4):
    model(row).sum().backward()
    optimizer.step()
"""

FLASH = {
    "attention.requested": "sdpa",
    "attention.configured": Layers.of({f"layers.{n}.self_attn": "sdpa" for n in range(4)}),
    "attention.executed": Tally.count("calls", {"flash": 4}),
    "attention.kernels": ("flash",),
}
MATH = FLASH | {"attention.executed": Tally.count("calls", {"math": 4}), "attention.kernels": ("math",)}


def test_1_attention_from_the_kernel_to_the_screen(project: Project) -> None:
    """The script asks for sdpa, something later switches every layer to eager, and all it prints is a falling loss."""
    project.write("train.py", (WORLD / "attention_as_requested/fault.py").read_text())
    folder = project.run("train.py", "output")
    # The adapter fired moments, the instrument made observations of them, the journal holds one line for each.
    (reading,) = project.readings(folder)
    assert said(reading, "attention.requested") == "sdpa"
    assert said(reading, "attention.executed") == Tally.count("calls", {"eager": 4})
    # Merged, sealed, folded: now it is a fact, known by a method.
    (fact,) = read_record(folder).find("attention.kernels")
    assert isinstance(fact.state, Known)
    assert (fact.state.value, fact.state.method) == (("eager",), Method.EXECUTED)
    # The case is all that a check may look at; the check contradicts the request, the gate blocks, the report says it.
    case = project.case(folder)
    findings = project.judge(case)
    assert findings["attention-as-requested"].verdict is Verdict.FAIL
    assert project.decide(findings).exit_code == 1
    assert "attention-as-requested" in project.report(case, findings)


def test_2_lint_judges_the_project_alone(project: Project) -> None:
    """No run, no journal, no rank: a project's record owes only the checks whose needs speak of projects."""
    project.write("helper.py", "SCALE = 1\n")
    project.write("train.py", "import helper\n")
    project.write("notes.md", "to do\n", commit=False)
    clean = project.judge(project.lint("train.py"))
    idle = {name for name, finding in clean.items() if finding.verdict is Verdict.NOT_APPLICABLE}
    assert {name for name in clean if name not in idle} == {"tree-is-committed"}
    assert clean["tree-is-committed"].verdict is Verdict.PASS
    assert {"declared-caches-rebuilt", "fields-read", "gates-can-say-no", "names-known"} <= idle
    assert not {"attention-as-requested", "one-writer"} & set(clean)
    project.write("helper.py", "SCALE = 2\n", commit=False)
    case = project.lint("train.py")
    findings = project.judge(case)
    assert [site.path for site in findings["tree-is-committed"].sites] == ["helper.py"]  # not notes.md: nothing runs it
    assert project.decide(findings).exit_code == 1
    assert "expected every file the command runs or reads held by the commit" in project.report(case, findings)


def test_3_code_that_ran_and_no_commit_holds(project: Project) -> None:
    """A module is imported by a name that is made at run time; git status is clean, because the file is ignored."""
    project.write(".gitignore", "__pycache__/\n.affidavit/\nsecret_sauce.py\n")
    project.write("secret_sauce.py", "SCALE = 3\n", commit=False)
    importing = 'sauce = __import__("secret" + "_sauce")'
    project.write("train.py", f"{LOOP}\n{importing}\ntrain(torch.nn.Linear(sauce.SCALE, 1))\n")
    folder = project.run("train.py")
    # Inside: the bytes that were executed, hashed as they passed. Outside: whose they are, and what the commit says.
    (reading,) = project.readings(folder)
    assert said(reading, "code.loaded")["code"] == 2  # type: ignore[index]
    (deviations,) = (fact.state for fact in read_record(folder).find("code.deviations"))
    assert isinstance(deviations, Known) and isinstance(deviations.value, Table)
    assert [row["path"] for row in deviations.value.records()] == ["secret_sauce.py"]
    finding = project.judge(project.case(folder))["code-is-committed"]
    assert finding.verdict is Verdict.FAIL
    assert [site.path for site in finding.sites] == ["secret_sauce.py"]


def test_4_a_panel_speaks_of_the_run_it_measured(project: Project) -> None:
    """A profile of the serving seat lies beside a run that executed other kernels; its advice is for another run."""
    folder = project.tell("run-4", FLASH)
    project.seal(folder)
    assert "panel-describes-run" not in project.judge(project.case(folder))  # not owed: there is no panel
    (folder / "panels").mkdir()
    (folder / "panels/mfu.json").write_text(json.dumps({"format": 1, "facts": {"attention.kernels": ["math"]}}))
    finding = project.judge(project.case(folder))["panel-describes-run"]
    assert finding.verdict is Verdict.FAIL
    (folder / "panels/mfu.json").write_text(json.dumps({"format": 1, "facts": {"attention.kernels": ["flash"]}}))
    assert project.judge(project.case(folder))["panel-describes-run"].verdict is Verdict.PASS


def test_5_a_correction_says_what_falls_and_what_survives(project: Project) -> None:
    """The sealed record stays as it is; a fact that falls is unknown to every reader, with all derived from it."""
    folder = project.tell("run-5", FLASH)
    project.seal(folder)
    sealed = (folder / "manifest.json").read_bytes()
    assert project.judge(project.case(folder))["attention-as-requested"].verdict is Verdict.PASS
    said_so = chain.annotate(
        folder,
        falls=["attention.executed"],
        survives=["attention.requested"],
        reason="the profiler counted the warm-up",
        author="Somebody",
    )
    assert said_so.not_reviewed == ("attention.configured", "run.ranks")  # computed: silence casts no doubt by accident
    assert (folder / "manifest.json").read_bytes() == sealed
    (kernels,) = read_record(folder).find("attention.kernels")  # derived from what fell
    assert isinstance(kernels.state, Unknown) and kernels.state.cause is Cause.FALLS
    case = project.case(folder)
    findings = project.judge(case)
    assert findings["attention-as-requested"].verdict is Verdict.UNKNOWN
    assert "the profiler counted the warm-up" in project.report(case, findings)


def test_6_the_lock_remembers_and_a_waiver_forgets_nothing(project: Project) -> None:
    """What nobody asked for is accepted once; an upgrade moves it; a waiver lets it pass the gate and hides nothing."""
    accepted = project.tell("run-6a", FLASH)
    project.seal(accepted)
    record = read_record(accepted, load_vocabulary())
    facts = lock.accepted(record)
    changes = lock.write_lock(
        project.root / "affidavit.lock", "train", facts, vocabulary=record.vocabulary, as_of=AS_OF
    )
    (said,) = map(str, changes)  # sdpa was asked for by name: what is configured is no default
    assert said.startswith("attention ran as flash (asked for by ")
    upgraded = project.tell("run-6b", MATH)
    project.seal(upgraded)
    case = project.case(upgraded)
    findings = project.judge(case)
    assert findings["lock-holds"].verdict is Verdict.FAIL
    assert project.decide(findings).exit_code == 1
    waiver = 'target = "lock-holds"\nreason = "no flash on this card"\nauthor = "Somebody"\nuntil = 2026-06-30\n'
    project.write("affidavit.toml", f"[[waiver]]\n{waiver}")
    decision = project.decide(findings)
    assert "lock-holds" not in [finding.check for finding in decision.blocking]
    assert [finding.verdict for finding, _ in decision.waived] == [Verdict.FAIL]
    assert "waived by Somebody until 2026-06-30" in project.report(case, findings)


def test_7_two_ranks_and_one_of_them_differs(project: Project) -> None:
    """Rank 0 saves and logs, so rank 0 is what everybody sees; the other one ran another kernel."""
    for rank, facts in enumerate((FLASH, MATH)):
        folder = project.tell("run-7", facts, rank=rank, world=2)
    project.seal(folder)
    record = read_record(folder)
    assert [fact.ranks for fact in record.find("attention.requested")] == [(0, 1)]  # stored once
    assert [fact.ranks for fact in record.find("attention.kernels")] == [(0,), (1,)]
    findings = project.judge(project.case(folder))
    assert findings["ranks-agree"].verdict is Verdict.FAIL
    alone = project.tell("run-7-alone", FLASH, rank=0, world=2)
    project.seal(alone)
    silent = project.judge(project.case(alone))["attention-as-requested"]
    assert (silent.verdict, silent.cause) == (Verdict.UNKNOWN, Cause.RANK_MISSING)  # absence never passes


def test_8_a_rehearsal_stops_early_and_writes_nothing_over(project: Project) -> None:
    """The plan is the script's own; after the second step every rank ends where it stands, and nothing was touched."""
    project.write("weights.pt", "months of work")
    beginning = 'open("weights.pt", "w").close()\nmodel = torch.nn.Linear(3, 1)'
    ending = 'train(model)\ntorch.save(model.state_dict(), "weights.pt")'
    project.write("train.py", f"{LOOP}\n{beginning}\n{ending}\n")
    folder = project.run("train.py", kind=Kind.REHEARSAL)
    assert (project.root / "weights.pt").read_text() == "months of work"
    record = read_record(folder)
    assert record.kind is Kind.REHEARSAL
    (reading,) = project.readings(folder)
    assert (reading.closed, reading.live_step) == ("rehearsed", 2)
    # The real run then holds the rehearsal beside itself, under a role.
    assert project.case(project.run("train.py")).offers("rehearsal")


def test_9_two_trainings_in_one_script(project: Project) -> None:
    """The second training does not overwrite the first: each is an episode, and each is judged."""
    project.write("train.py", f"{LOOP}\nfor width in (1, 2):\n    train(torch.nn.Linear(3, width))\n")
    folder = project.run("train.py")
    (reading,) = project.readings(folder)
    assert [episode.number for episode in reading.episodes] == [0, 1]
    record = read_record(folder)
    assert record.episodes == 2
    for episode in (0, 1):
        (fact,) = record.find("adapter.kind", episode=episode)
        assert isinstance(fact.state, Known) and fact.state.value == "none"
    assert {finding.episode for finding in project.judge(project.case(folder)).values()} == {0, 1}


def test_10_a_plugin_brings_a_term_an_instrument_and_a_check(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's package, under its own prefix: seen inside, judged outside, readable without the package."""
    install(PLUGIN, tmp_path / "site")
    project.write("train.py", f"{LOOP}\nmodel = torch.nn.Linear(3, 1)\nmodel.last_kl = 12.5\ntrain(model)\n")
    with monkeypatch.context() as installed:
        installed.syspath_prepend(tmp_path / "site")
        folder = project.run("train.py")
        finding = project.judge(project.case(folder))["acme-reward-near-reference"]
        assert finding.verdict is Verdict.FAIL
        check = next(check for check in project.house.checks if check.id == finding.check)
        assert check.example is not None and drill(check, check.example()).caught
    for name in [name for name in sys.modules if name.startswith("acme_reward")]:
        del sys.modules[name]
    # Uninstalled: the term is embedded in the manifest, so the record still reads.
    (fact,) = read_record(folder, project.house.vocabulary).find("acme.reward_kl")
    assert fact.state == Known(12.5, Method.INSPECTED, "model.last_kl")


def test_11_a_checkpoint_s_way_back_to_its_run(project: Project, tmp_path: Path) -> None:
    """Weights are copied, renamed and handed on. What they were made of is in the record, and the record knows them."""
    project.write("train.py", SAVES)
    folder = project.run("train.py")
    # A saver was heard: the journal says where and at which step, and a small file beside the weights names the run.
    (reading,) = project.readings(folder)
    assert [(save.form, save.step, save.mark) for save in reading.saves] == [("pretrained", 4, "left")]
    # Nothing was hashed while it trained. Whoever sealed the run looked at the files once, and their digests are facts.
    record = read_record(folder)
    assert [place.state for place in artifact.places(record)] == ["there"]
    (weights,) = (one for one in artifact.subjects(record) if one.name == "model/model.safetensors")
    # Elsewhere and without the file that names it, a model is found by what is in it.
    copy = shutil.copytree(project.root / "model", tmp_path / "handed on")
    (copy / names.MARK).unlink()
    found = find_origin(copy, runs(project.root), project=project.root)
    assert found.run is not None and (found.run.folder, found.verdict) == (folder, Whence.INTACT)
    # A correction of the run reaches whoever asks after its model: first what falls, then all the rest.
    chain.annotate(folder, falls=["optimizer.*"], survives=["artifact.*"], reason="the wrong rate", author="Somebody")
    about = About(record=record, annotations=chain.read(folder))
    assert next(iter(lines(found, about))).text.startswith("erratum #1") and exit_code(found, about) == 1
    # Other bytes are another model, whatever the file beside them says.
    shutil.copy(project.root / "model" / names.MARK, copy)
    (copy / "model.safetensors").write_bytes(weights.sha256.encode())
    found = find_origin(copy, runs(project.root), project=project.root)
    assert found.verdict is Whence.CONTRADICTED


def test_12_a_cache_comes_with_the_run_that_filled_it(project: Project) -> None:
    """A file of yesterday lies under the name that today asks for, and a manifest says what today would have built."""
    project.write(".gitignore", ".affidavit/\n*.json\n*.jsonl\n")
    project.write("train.py", CACHES)
    mask = project.root / "mask.json"
    mask.write_text('{"lit": true}')
    first = project.run("train.py")
    # Inside: what was opened, as it passed. At the seal: the digest of what is still there.
    (row,) = (row for row in table(project, first, "cache.files") if row["path"] == "rows.jsonl")
    assert row["use"] == "written"  # under the name that it has now, though another was opened
    # Today's mask is another one, and the name of the file does not know of it.
    mask.write_text('{"lit": false}')
    sha256 = hashlib.sha256(mask.read_bytes()).hexdigest()
    (project.root / "manifest.json").write_text(json.dumps({"impersonation_mask_sha256": sha256}))
    os.utime(project.root / "manifest.json", (2e9, 2e9))  # the script of this run says so, when it is through
    second = project.run("train.py")
    line, *_ = table(project, second, "cache.lineage")  # a line a fact that the first run had
    assert (line["path"], line["holds"], line["run"]) == ("rows.jsonl", "ids, labels", first.name)
    (claim,) = table(project, second, "cache.claims")
    assert (claim["claimed"], claim["file"]) == (sha256, "mask.json")
    assert claim["read"] != sha256  # what the build had read of that file
    # The run that built it stands in the case, and the check tells of both.
    case = project.case(second)
    assert case.records["built"].subject == first.name
    findings = project.judge(case)
    assert findings["cache-entry-provenance"].verdict is Verdict.FAIL
    assert first.name in findings["cache-entry-provenance"].message


def table(project: Project, folder: Path, term: str) -> list[dict[str, object]]:
    """Return the rows of a table that a sealed run holds."""
    (fact,) = read_record(folder, project.house.vocabulary).find(term)
    assert isinstance(fact.state, Known) and isinstance(fact.state.value, Table)
    return [dict(row) for row in fact.state.value.records()]


def install(package: Path, site: Path) -> None:
    """Install a pure package as an installer does: its folder, and the dist-info that names its entry point."""
    shutil.copytree(package, site / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    about = site / "acme_reward-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-reward\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[affidavit.plugins]\nacme = acme_reward\n")
