"""A case holds the run's folded record and every other record under its role; what nothing offers is absent."""

from __future__ import annotations

import datetime
import hashlib
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from run_world import LIGHT, Project

from affidavit.case import SUBJECT, Case
from affidavit.check import Verdict
from affidavit.check.engine import run as judge_one
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method
from affidavit.gate import Attestation
from affidavit.record import chain
from affidavit.record.lock import accepted, write_lock
from affidavit.record.record import Kind
from affidavit.run.assemble import PanelError, assemble
from affidavit.run.draft import record_of
from affidavit.run.gathered import gather
from affidavit.run.plugins import load_house
from affidavit.run.sealing import ensure_sealed
from affidavit.run.supervise import supervise
from affidavit.settings import Settings, load

AS_OF = datetime.date(2026, 3, 1)


def _case(project: Project, folder: Path, settings: Settings | None = None) -> Case:
    house = load_house(project.root)
    held = settings or load(project.root, house.vocabulary)
    return assemble(folder, held, vocabulary=house.vocabulary, as_of=AS_OF)


def _run(project: Project, *, kind: Kind = Kind.RUN) -> Path:
    scratch = project.root / f"scratch{len(list(project.runs.glob('*')))}"  # a rehearsal may write to none that exists
    scratch.mkdir()
    prepared = project.prepare(*LIGHT, str(scratch), "--steps=5", kind=kind)
    assert supervise(prepared).code == 0
    ensure_sealed(prepared.folder)
    return prepared.folder


def test_alone_a_run_has_no_other_role(project: Project) -> None:
    case = _case(project, _run(project))
    assert set(case.records) == {SUBJECT}
    assert case.subject.kind is Kind.RUN and case.value("attention.kernels") == ("flash",)
    assert case.value("run.ranks") == 1


def test_a_run_that_is_not_over_has_a_case_too(project: Project) -> None:
    seen: list[Case] = []

    def on_live(folder: Path) -> str:
        seen.append(_case(project, folder))
        return ""

    supervise(project.prepare(*project.light("--steps=80")), on_live=on_live)
    (case,) = seen
    assert case.value("attention.kernels") == ("flash",)


def test_the_lock_of_its_recipe_is_offered_and_no_other(project: Project) -> None:
    folder = _run(project)
    record = _case(project, folder).subject
    write_lock(project.root / "affidavit.lock", "another", accepted(record), vocabulary=record.vocabulary)
    assert not _case(project, folder).offers("lock")
    write_lock(project.root / "affidavit.lock", "light", accepted(record), vocabulary=record.vocabulary)
    case = _case(project, folder)
    assert case.offers("lock")
    (holds,) = [check for check in load_house(project.root).checks if check.id == "lock-holds"]
    assert judge_one(holds, case).verdict is Verdict.PASS


def test_what_an_annotation_fells_no_reader_sees(project: Project) -> None:
    folder = _run(project)
    chain.annotate(folder, falls=("attention.executed",), reason="wrong profiler", author="me")
    for name in ("attention.executed", "attention.kernels"):
        (fact,) = _case(project, folder).facts(name)
        assert isinstance(fact.state, Unknown) and fact.state.cause is Cause.FALLS


def test_the_latest_rehearsal_of_its_recipe_before_it_is_offered(project: Project) -> None:
    _run(project, kind=Kind.REHEARSAL)
    time.sleep(0.01)
    folder = _run(project)
    time.sleep(0.01)
    later = _run(project, kind=Kind.REHEARSAL)
    case = _case(project, folder)
    assert case.records["rehearsal"].kind is Kind.REHEARSAL
    assert case.value("rehearsal/attention.kernels") == ("flash",)
    assert case.records["rehearsal"].subject != later.name
    assert not _case(project, later).offers("rehearsal")


def test_an_earlier_run_that_cannot_be_read_keeps_nobody_from_judging_this_one(project: Project) -> None:
    damaged = _run(project, kind=Kind.REHEARSAL) / "manifest.json"
    time.sleep(0.01)
    folder = _run(project)
    assert _case(project, folder).offers("rehearsal")
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert not _case(project, folder).offers("rehearsal")


def test_panels_beside_the_run_and_in_the_settings_are_one_record(project: Project) -> None:
    folder = _run(project)
    (folder / "panels").mkdir()
    (folder / "panels" / "mfu.json").write_text('{"format": 1, "facts": {"attention.kernels": ["math"]}}')
    other = project.root / "other.json"
    other.write_text('{"format": 1, "facts": {"adapter.kind": "none"}}')
    case = _case(project, folder, Settings(root=project.root, panels=(other,)))
    assert case.value("panel/attention.kernels") == ("math",) and case.value("panel/adapter.kind") == "none"
    (describes,) = [check for check in load_house(project.root).checks if check.id == "panel-describes-run"]
    assert judge_one(describes, case).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "expected JSON"),
        ('{"format": 2, "facts": {}}', "'format': 2"),
        ('{"format": 1, "facts": {}}', "TERM: VALUE"),
        ('{"format": 1, "facts": {"attention.kernel": ["math"]}}', 'did you mean "attention.kernels"'),
        ('{"format": 1, "facts": {"attention.kernels": 3}}', "expected a tuple"),
        ('{"format": 1, "facts": {"adapter.kind": "lora"}}', "other.json"),
    ],
)
def test_a_panel_that_cannot_be_read_is_one_clear_error(project: Project, text: str, said: str) -> None:
    folder = _run(project)
    panels = (project.root / "other.json", project.root / "panel.json")
    panels[0].write_text('{"format": 1, "facts": {"adapter.kind": "none"}}')
    panels[1].write_text(text)
    with pytest.raises(PanelError) as refused:
        _case(project, folder, Settings(root=project.root, panels=panels))
    assert said in str(refused.value) and "panel.json" in str(refused.value)


def test_a_persons_word_stands_where_no_process_spoke_and_nowhere_else(project: Project) -> None:
    folder = _run(project)
    word = Attestation(term="tokens.supervised_roles", value=("assistant",), author="me", seen="the data", until=AS_OF)
    against = replace(word, term="adapter.kind", value="lora")
    settings = Settings(root=project.root, attestations=(word, against))
    case = _case(project, folder, settings)
    (fact,) = case.facts("tokens.supervised_roles")
    assert isinstance(fact.state, Known) and fact.state.method is Method.ATTESTED and fact.ranks == (0,)
    assert case.value("adapter.kind") == "none"
    expired = replace(word, until=AS_OF - datetime.timedelta(days=1))
    assert not _case(project, folder, replace(settings, attestations=(expired,))).facts("tokens.supervised_roles")


def test_expectations_of_the_settings_are_offered(project: Project) -> None:
    (project.root / "affidavit.toml").write_text('[expect]\nattention.kernels = ["flash"]\n')
    case = _case(project, _run(project))
    assert case.value("expected/attention.kernels") == ("flash",)


def test_the_record_says_whose_the_code_was_and_what_no_commit_holds(project: Project) -> None:
    """The outside half of code identity, over a list such as the inside half leaves."""
    for name in ("train.py", "stray.py"):
        (project.root / name).write_text("x = 1\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "train.py"), ("commit", "-qm", "all")):
        subprocess.run(["git", *identity, *words], cwd=project.root, check=True, capture_output=True)
    python: dict[str, object] = {"kind": "python", "prefix": sys.prefix, "base_prefix": sys.base_prefix, "sites": []}
    python["stdlib"] = [str(Path(json.__file__).parents[1])]
    lines: list[dict[str, object]] = [python]
    lines += [{"kind": "code", "path": str(project.root / name), "sha256": ""} for name in ("train.py", "stray.py")]
    lines.append({"kind": "installed", "path": json.__file__, "sha256": ""})
    listing = "\n".join(map(json.dumps, lines)).encode()
    digest = hashlib.sha256(listing).hexdigest()
    script = project.root / "listed.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(LIGHT[1]).parent)!r}); import light, os, json\n"
        "from pathlib import Path\nfrom affidavit.attach.launch import Launch\n"
        "from affidavit.fact.values import Digest\n"
        f"listing = {listing!r}\n"
        "spool = Path(Launch.read(Path(os.environ['AFFIDAVIT_LAUNCH'])).spool)\n"
        f"(spool / 'evidence').mkdir(); (spool / 'evidence' / '{digest}').write_bytes(listing)\n"
        f"light.FACTS['code.listing'] = (light.Method.EXECUTED, Digest('sha256', '{digest}'))\n"
        "sys.exit(light.main())\n"
    )
    prepared = project.prepare(sys.executable, str(script), str(project.root), "--steps=4")
    assert supervise(prepared).code == 0
    manifest = ensure_sealed(prepared.folder)
    case = _case(project, prepared.folder)
    assert str(case.value("code.files_by_verdict")) == "1 committed, 1 not-in-commit, 1 stdlib"
    ((path, owner, verdict),) = case.value("code.deviations").rows  # type: ignore[union-attr]
    assert (path, verdict) == ("stray.py", "not-in-commit") and str(owner).startswith(project.root.name)
    assert [one.digest for one in manifest.evidence] == [f"sha256:{digest}"]  # type: ignore[union-attr]

    (prepared.folder / "evidence" / digest).write_bytes(b"altered")
    record = record_of(gather(prepared.folder), load_house(project.root).vocabulary)
    for name in ("code.commit", "code.files_by_verdict", "code.deviations"):
        (fact,) = record.find(name)
        assert isinstance(fact.state, Unknown) and fact.state.cause is Cause.EVIDENCE_LOST
