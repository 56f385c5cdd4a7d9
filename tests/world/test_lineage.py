"""The seed's case: run 1 without a mask, run 2 with one, and a cache whose key knows of no mask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import HERE

MASK = '{"masked": ["user", "template"]}'


def _run(project: Path, script: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "400"}
    environment["PYTHONPATH"] = str(HERE.parents[1] / "src/affidavit/demo/scripts")
    command = [sys.executable, "-m", "affidavit.cli", "run", "--gate", "--", sys.executable, script.name, "out"]
    return subprocess.run(command, env=environment, cwd=project, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("stem", ["fault", "clean"])
def test_what_run_1_built_is_told_in_the_record_of_run_2(tmp_path: Path, stem: str) -> None:
    script = Path(shutil.copy(HERE / "cache_entry_provenance" / f"{stem}.py", tmp_path))
    (tmp_path / ".gitignore").write_text("out/\n.affidavit/\n__pycache__/\n")
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "A script")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    first = _run(tmp_path, script)
    assert "cache-entry-provenance" not in first.stderr, first.stderr
    (tmp_path / "out/mask.json").write_text(MASK)
    # The census sees whose words are lit without any knowledge of caches; here it is told what to expect.
    (tmp_path / "affidavit.toml").write_text('[expect]\ntokens.supervised_roles = ["assistant"]\n')
    second = _run(tmp_path, script)
    failed = [line for line in second.stderr.splitlines() if line.startswith("FAIL")]
    if stem == "clean":
        assert (second.returncode, failed) == (0, []), second.stderr
        return
    assert second.returncode == 1
    assert [line.split()[1] for line in failed] == ["cache-entry-provenance", "expectations-hold"], second.stderr
    (built,) = (tmp_path / "out/cache").iterdir()
    told = " ".join(second.stderr.split())
    assert f"out/cache/{built.name}" in told
    assert "impersonation_mask_sha256" in told
