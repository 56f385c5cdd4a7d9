"""Without a launcher: one line in a script, one line in a notebook, and the run is recorded, sealed and judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOP = """
import torch

def train(model, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def affidavit(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "affidavit.cli", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def facts(cwd: Path) -> dict[str, dict[str, object]]:
    return {fact["term"]: fact for fact in json.loads(affidavit("show", "--json", cwd=cwd).stdout)["facts"]}


@pytest.mark.parametrize(
    ("end", "status", "code"),
    [
        ("", "FINISHED", 0),
        ("raise ValueError('no')", "FAILED", 1),
        ("import os; os.kill(os.getpid(), 9)", "KILLED", -9),
    ],
    ids=["returns", "raises", "is killed"],
)
def test_one_line_in_a_script(tmp_path: Path, end: str, status: str, code: int) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    lines = (
        "import affidavit",
        "affidavit.observe()",
        "import torch",
        "from loop import train",
        "train(torch.nn.Linear(4, 4))",
    )
    script = "\n".join((*lines, end, ""))
    (tmp_path / "script.py").write_text(script)
    ended = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == "" and ("affidavit" not in ended.stderr)
    (run,) = json.loads(affidavit("ls", "--json", cwd=tmp_path).stdout)["runs"]
    assert run["recipe"] == "script"
    assert run["status"].startswith(status) and run["status"].endswith("step 4"), run
    seen = facts(tmp_path)
    assert "none" in json.dumps(seen["adapter.kind"])
    assert "allow: it runs already" in json.dumps(seen["tree.gate"])


def test_under_the_launcher_the_line_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    (tmp_path / "script.py").write_text(
        "import affidavit, torch\nprint(affidavit.observe())\nfrom loop import train\ntrain(torch.nn.Linear(4, 4))\n"
    )
    ended = affidavit("run", "--", sys.executable, "script.py", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (run,) = json.loads(affidavit("ls", "--json", cwd=tmp_path).stdout)["runs"]
    assert ended.stdout.strip() == run["run"]


def test_a_tokenizer_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    script = "import affidavit, torch\naffidavit.observe(tokenizer=3)\n"
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "saw int" in ended.stderr and "Not affected" in ended.stderr


def test_a_notebook(tmp_path: Path) -> None:
    from jupyter_client.manager import start_new_kernel

    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "IPYTHONDIR": str(tmp_path / "ipython")}
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path), env=environment)
    said: list[str] = []

    def run(cell: str) -> None:
        reply = client.execute_interactive(
            cell, timeout=120, output_hook=lambda message: said.append(str(message["content"].get("text", "")))
        )
        assert reply["content"]["status"] == "ok", reply["content"]

    try:
        run("import torch")
        run("%load_ext affidavit")
        run(LOOP)
        run("train(torch.nn.Linear(4, 4))")
        live = affidavit("show", cwd=tmp_path)
        assert "running" in live.stdout and "step 4" in live.stdout, live.stdout + live.stderr
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    assert "watching run" in "".join(said)
    (seen,) = json.loads(affidavit("ls", "--json", cwd=tmp_path).stdout)["runs"]
    assert seen["recipe"] == "notebook" and seen["status"].startswith(("FINISHED", "KILLED"))
    assert "ATTACHED_LATE" not in json.dumps(facts(tmp_path)["adapter.kind"])
    cells = json.dumps(facts(tmp_path)["code.deviations"])
    assert "NO_REPOSITORY" in cells and "that ran, such as" in cells and "ipykernel" in cells, cells
