"""A project at which a person types verbs: the real command line, real git, real processes, no framework."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

import affidavit
from affidavit import checks
from affidavit.check.load import load as load_checks
from affidavit.checks.cache_canary import COLUMNS as CANARY_COLUMNS
from affidavit.cli.main import command
from affidavit.fact.encoding import to_json
from affidavit.fact.observation import Known
from affidavit.fact.term import Scope
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.fact.vocabulary import load as load_vocabulary

SOURCE = Path(affidavit.__file__).parents[1]
NARRATOR = Path(__file__).with_name("narrator.py")
WORDS = load_vocabulary()
NOBODY_ASKED: Mapping[str, Value] = {
    "optimizer.asked": (),
    "schedule.asked": (),
    "batch.plan": "unstated",
    "precision.requested": "unstated",
    "precision.outside": "unstated",
    "precision.weights_requested": "unstated",
}


def whole(facts: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return facts with a healthy value for whatever else a rank is asked for by any check: from its own example."""
    found = dict(facts)
    for one in load_checks(checks, WORDS):
        assert one.example is not None
        for fact in one.example().subject.facts:
            if WORDS[fact.name].scope is Scope.RANK and isinstance(fact.state, Known):
                found.setdefault(fact.name, fact.state.value)
    return found


ABOUT: Mapping[str, Value] = {
    **NOBODY_ASKED,
    "cache.canary": Table(CANARY_COLUMNS, ()),
    "cache.opened": Table(("path", "use", "bytes", "modified"), ()),
    "adapter.kind": "none",
    "adapter.targets": (),
    "adapter.matched": Tally("modules", ()),
    "adapter.trained": Tally("modules", ()),
    "attention.requested": "sdpa",
    "attention.configured": Layers.of({f"layers.{layer}.self_attn": "sdpa" for layer in range(4)}),
    "attention.executed": Tally.count("calls", {"flash": 48}),
    "attention.kernels": ("flash",),
    "tokens.supervision_requested": "assistant",
    "tokens.labels": "each token",
    "tokens.seen_by_role": Tally.count("tokens", {"assistant": 36, "user": 40}),
    "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 36, "user": 0}),
    "tokens.supervised_by_turn": Table(
        ("turn", "role", "turns", "tokens", "supervised", "closed", "ends"),
        ((0, "user", 4, 40, 0, 4, 0), (1, "assistant", 4, 36, 36, 4, 4)),
    ),
    "tokens.supervised_roles": ("assistant",),
    "tokens.rows_examined": 4,
    "run.ranks": 1,
}
"""What these tests are about."""
CLEAN = whole(ABOUT)
EAGER: Mapping[str, Value] = {
    **CLEAN,
    "attention.executed": Tally.count("calls", {"eager": 12}),
    "attention.kernels": ("eager",),
}
USERS: Mapping[str, Value] = {
    **CLEAN,
    "tokens.supervision_requested": "unstated",
    "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 36, "user": 40}),
    "tokens.supervised_by_turn": Table(
        ("turn", "role", "turns", "tokens", "supervised", "closed", "ends"),
        ((0, "user", 4, 40, 40, 4, 4), (1, "assistant", 4, 36, 36, 4, 4)),
    ),
    "tokens.supervised_roles": ("assistant", "user"),
}
ROWS = (
    {
        "row": 0,
        "spans": [
            {"role": "user", "turn": 0, "lit": False, "tokens": 4, "text": "Is it \x1b[31mred\x1b[0m?"},
            {"role": "assistant", "turn": 1, "lit": True, "tokens": 3, "text": "No, blue.<eos>"},
        ],
    },
)


@dataclass
class Desk:
    """A committed project folder, and what a person types there. ``runs`` are those that were named."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: _bare())
    runs: dict[str, str] = field(default_factory=dict)

    def type(self, *words: str) -> Result:
        """Return what one command line did, in this process."""
        with contextlib.chdir(self.root):
            return CliRunner(env=self.environment).invoke(command, words)

    def start(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Return what one command line did, in a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "affidavit.cli", *words],
            cwd=self.root,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def train(
        self,
        *trainings: Mapping[str, Value],
        code: int = 0,
        options: Sequence[str] = (),
        verb: str = "run",
        rows: Sequence[object] = ROWS,
        pause: float = 0.0,
    ) -> subprocess.CompletedProcess[str]:
        """Return what a run of a script did that trains once for each set of facts; it ends with this code."""
        values = [{term: to_json(value) for term, value in facts.items()} for facts in trainings or (CLEAN,)]
        path = self.root.parent / "facts.json"
        path.write_text(json.dumps({"trainings": values, "rows": list(rows), "pause": pause, "code": code}))
        told = {"FACTS": str(path), "NARRATOR": str(NARRATOR)}
        return self.start(verb, *options, "--", sys.executable, "train.py", **told)

    def document(self, *words: str) -> Any:
        """Return what a verb says as JSON."""
        ended = self.type(*words, "--json")
        assert ended.stdout.isascii(), ended.stderr
        return json.loads(ended.stdout)

    @property
    def run_ids(self) -> list[str]:
        return sorted(path.name for path in (self.root / ".affidavit" / "runs").iterdir())


def shelf(root: Path) -> Desk:
    """Return a project with four runs: clean, eager (it fails), users (to review), and blind (unknown)."""
    held = desk(root)
    blind = {term: value for term, value in CLEAN.items() if not term.startswith("attention.")}
    for name, facts in {"eager": EAGER, "users": USERS, "blind": blind, "clean": CLEAN}.items():
        ended = held.train(facts)
        assert ended.returncode == 0, ended.stderr
        (held.runs[name],) = {*held.run_ids} - {*held.runs.values()}
    return held


def _bare() -> dict[str, str]:
    """Return an environment in which no scheduler, no colour and no other project is, whoever runs the tests."""
    dropped = ("SLURM_", "TORCHELASTIC_", "AFFIDAVIT_", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm"}


def desk(root: Path) -> Desk:
    """Return a project in which the training script is committed."""
    root.mkdir()
    (root / "train.py").write_text(
        'import os\nimport runpy\n\nrunpy.run_path(os.environ["NARRATOR"], run_name="__main__")\n'
    )
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    for words in (("init", "--quiet"), ("add", "."), (*author, "commit", "--quiet", "-m", "As it is")):
        subprocess.run(["git", *words], cwd=root, check=True)
    return Desk(root)
