"""A key that its only reader never asks for is told; one doubt about the reader, and nothing is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.lint.fields import unread_keys
from affidavit.lint.fields.mapping import loaded_mappings

CONFIG = "lr: 0.1\nepochs: 3\nwarmup: 5\n"
READS = 'print(cfg["lr"], cfg.get("epochs", 1))\n'


def unread(
    tmp_path: Path, script: str, config: str = CONFIG, *, name: str = "c.yaml", other: str = "", launcher: str = ""
) -> list[str]:
    (tmp_path / "train.py").write_text(f"import yaml, json, tomllib\nfrom pathlib import Path\n{script}")
    (tmp_path / "other.py").write_text(other)
    (tmp_path / "go.sh").write_text(launcher)
    (tmp_path / name).write_text(config)
    scripts = [tmp_path / "train.py", tmp_path / "other.py"]
    fields, _ = unread_keys(scripts, [tmp_path / "go.sh", tmp_path / name], tmp_path)
    return [field.name for field in fields]


@pytest.mark.parametrize(
    ("load", "name", "config"),
    [
        ('cfg = yaml.safe_load(open("c.yaml"))\n', "c.yaml", CONFIG),
        ('cfg = yaml.safe_load(Path("c.yaml").read_text())\n', "c.yaml", CONFIG),
        ('with open("c.yaml") as file:\n    cfg = yaml.safe_load(file)\n', "c.yaml", CONFIG),
        ('with Path("c.yaml").open() as file:\n    cfg = yaml.load(file, Loader=yaml.Loader)\n', "c.yaml", CONFIG),
        ('cfg = json.load(open("c.json"))\n', "c.json", '{"lr": 1, "epochs": 2,\n"warmup": 3}'),
        ('cfg = tomllib.loads(Path("c.toml").read_text())\n', "c.toml", "lr = 1\nepochs = 2\nwarmup = 3\n"),
    ],
)
def test_a_key_that_nobody_asks_for_is_told(tmp_path: Path, load: str, name: str, config: str) -> None:
    assert unread(tmp_path, load + READS, config, name=name) == ["warmup"]
    assert unread(tmp_path, load + READS + 'print("warmup" in cfg)\n', config, name=name) == []
    inside = "".join(f"    {line}\n" for line in (load + READS).splitlines())
    assert unread(tmp_path, f"def main():\n{inside}", config, name=name) == ["warmup"]


LOAD = 'cfg = yaml.safe_load(open("c.yaml"))\n' + READS


@pytest.mark.parametrize(
    "script",
    [
        LOAD + "train(cfg)\n",
        LOAD + "train(**cfg)\n",
        LOAD + "for key in cfg: print(key)\n",
        LOAD + "print(cfg.items())\n",
        LOAD + "other = cfg\n",
        LOAD + 'key = "warmup"\nprint(cfg[key])\n',
        LOAD + 'cfg["warmup"] = 3\n',
        LOAD + 'cfg.setdefault("x", 1)\n',
        LOAD + "cfg = {}\n",
        LOAD + "def f(): return cfg\n",
        LOAD + "def f():\n    global cfg\n",
        LOAD + 'print(globals()["cfg"])\n',
        LOAD + "print(f'{cfg}')\n",
        LOAD + "lambda cfg: 1\n",
        'cfg = yaml.safe_load(open("c.yaml"))\n',
        "cfg = yaml.safe_load(open(name))\n" + READS,
        'cfg = yaml.safe_load(open("a" + "c.yaml"))\n' + READS,
        'cfg = json.load(open("c.yaml"), object_hook=Box)\n' + READS,
        'def load():\n    return yaml.safe_load(open("c.yaml"))\ncfg = load()\n' + READS,
    ],
)
def test_a_mapping_that_goes_anywhere_else_is_left_alone(tmp_path: Path, script: str) -> None:
    assert unread(tmp_path, script) == []


def test_another_reader_of_the_file_is_a_doubt(tmp_path: Path) -> None:
    assert unread(tmp_path, LOAD, other='x = yaml.safe_load(open("c.yaml"))["warmup"]\n') == []
    assert unread(tmp_path, LOAD, other="from train import cfg\n") == []
    assert unread(tmp_path, LOAD, other="import train\n") == []
    assert unread(tmp_path, LOAD, launcher="yq .warmup c.yaml\n") == []


def test_a_key_that_holds_an_anchor_is_used_by_its_alias(tmp_path: Path) -> None:
    assert unread(tmp_path, LOAD, "base: &base {a: 1}\nlr: *base\nepochs: 1\n_note: 1\n") == []


def test_two_files_of_one_name_are_a_doubt(tmp_path: Path) -> None:
    inner = tmp_path / "pkg"
    inner.mkdir()
    (inner / "c.yaml").write_text(CONFIG)
    (tmp_path / "c.yaml").write_text(CONFIG)
    (inner / "train.py").write_text("import yaml\n" + LOAD)
    assert unread_keys([inner / "train.py"], [], tmp_path) == ((), 0)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "bytes.py"
    file.write_bytes(b'import yaml\ncfg = yaml.safe_load(open("c.yaml"))\n' + text)
    assert unread_keys([file], [], file.parent) == ((), 0), "there is no such config"


def test_a_scope_of_its_own_is_looked_at_alone() -> None:
    import ast

    text = 'def a():\n    cfg = yaml.safe_load(open("c.yaml"))\n    return cfg["x"]\ndef b(cfg):\n    return cfg\n'
    (found,) = loaded_mappings(ast.parse(text))
    assert (found.file, found.keys, found.is_module) == ("c.yaml", frozenset({"x"}), False)


def test_parsers_are_loaded_when_a_file_of_that_kind_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    code = (
        "import sys; from pathlib import Path; from affidavit.lint.configs import read_configs;"
        "from affidavit.lint.shell import read_launchers; import affidavit.lint.fields;"
        f"root = Path({str(tmp_path)!r}); read_configs([root / 'a.json'], [], None, root);"
        "read_launchers([], [], root); print({'yaml', 'tree_sitter', 'torch', 'tomllib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
