"""A retracted run takes along what was built on it: found by what later runs opened, whoever started them."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cli.desk import Desk, desk

from affidavit.fact import folder as names
from affidavit.fact.observation import Known
from affidavit.fact.values import Cell, Table, Value
from affidavit.fact.vocabulary import load
from affidavit.record import chain, fold, manifest, measurement, seal
from affidavit.record.manifest import Attempt, Status
from affidavit.record.measurement import Measurement, Supersession
from affidavit.record.record import Fact, Kind, Record
from affidavit.record.runs import runs
from affidavit.run.built import Standing, standing_on

WORDS = load()
OPENED = ("path", "use", "bytes", "modified")
FILES = ("path", "use", "digest", "bytes")
SAVES = ("path", "form", "step", "time", "state", "mark")
LINEAGE = ("path", "holds", "run", "known_by", "made", "term", "built")
START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
SCRIPT = """
import sys
import torch

net = torch.nn.Linear(64, 64)
if len(sys.argv) > 2:
    net.load_state_dict(torch.load(sys.argv[2]))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.ones(2, 64)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.save(net.state_dict(), sys.argv[1])
"""


class Told:
    """A project whose runs are sealed as they are told, one an hour."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / ".git").mkdir()

    def run(
        self,
        name: str,
        *,
        saved: tuple[str, ...] = (),
        opened: tuple[str, ...] = (),
        wrote: Mapping[str, str] | None = None,
        read: Mapping[str, str] | None = None,
        built_on: tuple[str, str] = ("", ""),
        argv: tuple[str, ...] = (),
        changed: Mapping[str, float] | None = None,
    ) -> None:
        """Seal a run; what it opened had changed half an hour before, or at the hour that ``changed`` says."""
        folder = self.root / ".affidavit/runs" / name
        folder.mkdir(parents=True)
        hour = len(list(folder.parent.iterdir()))
        started = START + datetime.timedelta(hours=hour)
        times = dict.fromkeys((*opened, *(read or {})), hour - 0.5) | dict(changed or {})
        rows: dict[str, tuple[tuple[str, ...], list[tuple[Cell, ...]]]] = {
            "artifact.saves": (SAVES, [(place, "hf", 2, "", "there", "") for place in saved]),
            "cache.opened": (
                OPENED,
                [(str(self.root / at), "read", 1, START.timestamp() + 3600 * when) for at, when in times.items()],
            ),
            "cache.files": (
                FILES,
                [(path, "written", digest, 9000) for path, digest in (wrote or {}).items()]
                + [(path, "read", digest, 9000) for path, digest in (read or {}).items()],
            ),
            "cache.lineage": (LINEAGE, [("a.arrow", "ids", *built_on, "", "", "")] if built_on[0] else []),
        }
        facts = [self._fact(term, Table(columns, tuple(held))) for term, (columns, held) in rows.items() if held]
        (folder / names.HELLO).touch()
        attempt = Attempt(
            number=0, command=("python", "train.py", *argv), started=started, ended=started, status=Status.FINISHED
        )
        record = Record(kind=Kind.RUN, subject=name, facts=tuple(facts), vocabulary=WORDS)
        seal.seal(folder, manifest.from_record(record, affidavit="0.1.0", status=Status.FINISHED, attempts=(attempt,)))

    def _fact(self, term: str, value: Value) -> Fact:
        ranks = (0,) if WORDS[term].scope.value == "rank" else ()
        return Fact(name=term, state=Known(value, WORDS[term].least, "told"), ranks=ranks)

    def on(self, run: str) -> Standing:
        held = runs(self.root)
        return standing_on(next(one for one in held if one.id == run), held, self.root)

    def built(self, run: str) -> dict[str, bool]:
        return {one.run.id: one.is_proved for one in self.on(run).runs}


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path)


def test_who_opened_what_it_saved_stands_on_it_and_who_stands_on_that(told: Told) -> None:
    told.run("a", saved=("out/checkpoint-2",))
    told.run("b", opened=("out/checkpoint-2/trainer_state.json",), saved=("more",))
    told.run("c", opened=("more/config.json",))
    told.run("d", opened=("elsewhere/config.json",))
    assert told.built("a") == {"b": True, "c": True} and told.built("b") == {"c": True} and told.built("d") == {}


def test_bytes_that_it_wrote_are_its_own_wherever_they_lie(told: Told) -> None:
    told.run("a", wrote={"a.arrow": "sha256:1"})
    told.run("b", read={"copy/b.arrow": "sha256:1"})
    told.run("c", read={"copy/b.arrow": "sha256:2"})
    assert told.built("a") == {"b": True}


def test_bytes_that_several_wrote_are_told_as_a_perhaps(told: Told) -> None:
    """Every fine-tuning of one base model writes the same tokenizer, and most write the same config."""
    told.run("a", saved=("out/a",), wrote={"out/a/config.json": "sha256:1"})
    told.run("b", saved=("out/b",), wrote={"out/b/config.json": "sha256:1"})
    told.run("c", read={"out/b/config.json": "sha256:1"}, saved=("out/c",))
    assert told.built("a") == {} and told.built("b") == {"c": True}, "the path says whose it is"
    told.run("d", read={"copy/config.json": "sha256:1"})
    assert told.built("a") == {"d": False} and told.built("b") == {"c": True, "d": False}
    mark = {
        "affidavit": "0.1.0",
        "attempt": 0,
        "commit": "",
        "format": 1,
        "recipe": "",
        "step": 2,
        "time": "",
        "tree": "",
    }
    (told.root / "copy").mkdir()
    (told.root / "copy" / names.MARK).write_text(json.dumps({**mark, "run": "a"}))
    assert told.built("a") == {"d": True} and told.built("b") == {"c": True}, "the mark that was copied along says it"
    told.run("e", argv=("copy",))
    assert told.built("a") == {"d": True, "e": False}, "a request for a marked copy"


def test_what_it_did_not_make_is_not_its_own(told: Told) -> None:
    told.run("a", saved=("out",), wrote={"out/tokenizer.json": "sha256:1"}, read={"hub/tokenizer.json": "sha256:1"})
    told.run("b", read={"other/tokenizer.json": "sha256:1"})
    told.run("c", wrote={"out/c.json": "sha256:2"})
    told.run("d", read={"base/c.json": "sha256:2"}, changed={"base/c.json": 2.5})
    told.run("e", read={"mine/c.json": "sha256:2"}, changed={"mine/c.json": 5.5})
    assert told.built("a") == {}, "what it had read itself, it passed on; what was there before, it did not write"
    assert told.built("c") == {}, "a file older than the run, and one that the reader made"


def test_who_goes_on_in_its_folder_stands_on_it(told: Told) -> None:
    told.run("a", saved=("out",))
    told.run("b", saved=("out",), opened=("out/config.json",))
    told.run("c", saved=("out",), argv=("--output_dir", "out"))
    assert told.built("a") == {"b": True} and told.built("b") == {}, "where it saves to is no request"


def test_a_lineage_counts_and_a_coincidence_of_time_does_not(told: Told) -> None:
    told.run("a")
    told.run("b", built_on=("a", "content"))
    told.run("c", built_on=("a", "time"))
    assert told.built("a") == {"b": True}


def test_a_request_is_told_as_one_and_carries_no_further(told: Told) -> None:
    told.run("a", saved=("out",))
    told.run("b", argv=("--model=out",), saved=("more",))
    told.run("c", opened=("more/config.json",))
    assert told.built("a") == {"b": False}


@pytest.mark.guards(
    "affidavit.run.told:Runs.saver", property="who saved last in the narrowest place owns what lies there"
)
def test_what_another_saved_over_is_the_others(told: Told) -> None:
    told.run("a", saved=("out", "out/checkpoint-2"))
    told.run("b", saved=("out/checkpoint-2",))
    told.run("c", opened=("out/checkpoint-2/config.json",))
    told.run("d", saved=("out",), opened=("out/config.json",), changed={"out/config.json": 4.5})
    told.run("e", opened=("out/config.json",))
    told.run("f", saved=("out",))
    told.run("g", opened=("out/notes.json",), changed={"out/notes.json": 0.5})
    assert told.built("f") == {}, "what was there before anybody saved is nobody's"
    assert told.built("a") == {} and told.built("b") == {"c": True} and told.built("d") == {"e": True}


def test_numbers_claims_and_cards_are_told(told: Told) -> None:
    told.run("run-a", saved=("out",))
    told.run("run-b", opened=("out/config.json",), saved=("more",))
    lines = [
        Measurement(name=name, value=value, unit="%", date=START, run=run)
        for name, value, run in (("mfu", 8.6, "run-b"), ("other", 1.0, "run-c"))
    ]
    measurement.append(told.root / measurement.FILE, lines)
    (told.root / "SIZING.md").write_text("It has an MFU of [8.6 %](claim:mfu), and of [1 %](claim:other).\n")
    (told.root / "notes.md").write_text("First\nfrom run-a, not from run-abc\n")
    (told.root / "innocent.md").write_text("run-abc, my-run-a and run-a-2\n")
    (told.root / "more").mkdir()
    (told.root / "more/README.md").write_text("A card of run-b\n")
    found = told.on("run-a")
    assert [(one.name, one.value) for one in found.measurements] == [("mfu", 8.6)]
    assert [(one.path, one.line, one.said, one.of) for one in found.claims] == [("SIZING.md", 1, "8.6 %", "mfu")]
    (told.root / "out").mkdir()
    (told.root / "out/README.md").write_text("A card that names no run\n")
    cards = told.on("run-a").cards
    assert [(one.path, one.of) for one in cards] == [("out/README.md", "run-a")]
    named = {(one.path, one.line, one.of) for one in found.documents}
    assert named == {("notes.md", 2, "run-a"), ("more/README.md", 1, "run-b")}


def test_a_number_that_was_measured_again_is_not_taken_back(told: Told) -> None:
    told.run("a")
    times = [START, START + datetime.timedelta(hours=1)]
    lines: list[Measurement | Supersession] = [
        Measurement(name="mfu", value=8.6, unit="%", date=times[0], run="a"),
        Measurement(name="mfu", value=9.1, unit="%", date=times[1], run="b"),
        Measurement(name="old", value=1, unit="s", date=times[0], run="a"),
        Measurement(name="rate", value=1, unit="s", date=times[0], run="a"),
        Supersession(claims=("old",), why="another seat", date=times[1]),
    ]
    measurement.append(told.root / measurement.FILE, lines)
    found = told.on("a")
    assert [one.value for one in found.measurements] == [8.6, 1, 1] and found.current == ("rate",)


def test_a_run_that_cannot_be_read_is_told(told: Told) -> None:
    told.run("a")
    told.run("b")
    (told.root / ".affidavit/runs/b" / names.MANIFEST).write_text("{}")
    assert told.on("a").unread == ("b",) and told.on("a").is_empty


# --- the real thing -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A project in which one training loaded what another had saved."""
    found = desk(tmp_path_factory.mktemp("retract") / "project")
    (found.root / "loop.py").write_text(SCRIPT)
    (found.root / ".gitignore").write_text("*.pt\n")
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    for words in (("add", "."), (*author, "commit", "--quiet", "-m", "A loop")):
        subprocess.run(["git", *words], cwd=found.root, check=True)
    for name, words in {"first": ("a.pt",), "second": ("b.pt", "a.pt")}.items():
        ended = found.start("run", "--", sys.executable, "loop.py", *words, OMP_NUM_THREADS="1")
        assert ended.returncode == 0, ended.stderr[-3000:]
        (found.runs[name],) = {*found.run_ids} - {*found.runs.values()}
    return found


def test_a_retraction_fells_all_of_a_run_and_lists_what_loaded_it(resumed: Desk) -> None:
    first, second = resumed.runs["first"], resumed.runs["second"]
    (resumed.root / "CARD.md").write_text(f"Made by {first}.\n")
    folder = resumed.root / ".affidavit/runs" / first
    dry = resumed.type("retract", first, "--why", "shifted labels", "--dry-run")
    assert dry.exit_code == 0 and f"retracting {first} would touch this" in dry.stdout, dry.output
    assert chain.read(folder) == ()
    said = resumed.document("retract", first, "--why", "shifted labels", "--author", "Ada")
    assert [(one["run"], one["on"], one["is_proved"]) for one in said["runs"]] == [(second, first, True)]
    assert [(one["path"], one["of"]) for one in said["documents"]] == [("CARD.md", first)]
    (annotation,) = chain.read(folder)
    assert annotation.kind.value == "retraction" and annotation.reason == "shifted labels"
    assert not any(isinstance(fact.state, Known) for fact in fold.read_record(folder, WORDS).facts)
    again = resumed.type("retract", first, "--why", "once more")
    assert "retraction #1" in again.stdout and len(chain.read(folder)) == 1
    assert "taken back before (#1: shifted labels)" in " ".join(again.stderr.split())


def test_a_run_on_which_nothing_stands_says_so(resumed: Desk) -> None:
    said = resumed.type("retract", resumed.runs["second"], "--why", "a try", "--dry-run")
    assert said.exit_code == 0 and "nothing of this project that can be seen" in said.stdout, said.output
    assert resumed.type("retract", resumed.runs["second"], "--why", " ").exit_code == 2
