"""Code that came with a model: real ``trust_remote_code``, from a folder of the project, another one, and the hub."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from git_world import World, interpreter, new_world

from affidavit.observe import hub
from affidavit.observe.code import identify
from affidavit.observe.identity import FileIdentity, LoadedFile
from affidavit.observe.owner import OwnerKind
from affidavit.observe.verdict import FileVerdict

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = {
    "config.json": '{"model_type": "tiny", "auto_map": {"AutoConfig": "configuration_tiny.TinyConfig"}}\n',
    "configuration_tiny.py": "from transformers import PretrainedConfig\nfrom .parts import WIDTH\n\n\n"
    'class TinyConfig(PretrainedConfig):\n    model_type = "tiny"\n    width = WIDTH\n',
    "parts.py": "WIDTH = 4\n",
}
LOAD = """
import json, sys
from transformers import AutoConfig

for place in sys.argv[1:]:
    AutoConfig.from_pretrained(place, trust_remote_code=True)
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print(json.dumps([file for file in files if "transformers_modules" in file]))
"""


@dataclass(frozen=True)
class Loaded:
    """What one process loaded: files of the modules cache by the model's name, and folders of opened configs."""

    world: World
    home: Path
    files: Mapping[str, tuple[Path, ...]]
    beside: tuple[Path, ...]

    def judge(self, model: str) -> dict[str, FileIdentity]:
        """Return the identity of each file of a model; the project's own script is in the run as well."""
        held = [
            LoadedFile(path=path, sha256=hashlib.sha256(path.read_bytes()).hexdigest()) for path in self.files[model]
        ]
        own = LoadedFile(path=self.world.top / "main.py")
        code = identify([*held, own], interpreter(), beside=self.beside)
        return {loaded.path.name: file for loaded, file in zip(held, code.files[:-1], strict=True)}

    def run_copy(self, model: str, name: str) -> Path:
        (found,) = (path for path in self.files[model] if path.name == name)
        return found


def write(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in MODEL.items():
        (folder / name).write_text(text)
    return folder


def write_to_hub(world: World, home: Path, model: str) -> Path:
    """A model as the hub's cache holds it: links to blobs that are named by git's own id."""
    place = home / f"hub/models--{model.replace('/', '--')}"
    snapshot = place / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (place / "blobs").mkdir()
    (place / "refs").mkdir()
    (place / "refs/main").write_text(COMMIT)
    for name, text in MODEL.items():
        source = world.top.parent / "blob"
        source.write_text(text)
        blob = world.git("hash-object", "--no-filters", str(source)).strip()
        (place / "blobs" / blob).write_text(text)
        (snapshot / name).symlink_to(f"../../blobs/{blob}")
    return snapshot


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    place = tmp_path_factory.mktemp("hub")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        world = new_world(place / "r")
        inside = write(world.top / "models/my.model-1")
        world.commit()
    outside = write(place / "strange")
    snapshot = write_to_hub(world, place / "home", "some-one/a.model")
    names = {"inside": str(inside), "outside": str(outside), "hub": "some-one/a.model"}
    environment = {**os.environ, "HF_HOME": str(place / "home"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", LOAD, *names.values()]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    files = [Path(path) for path in json.loads(ended.stdout.splitlines()[-1])]
    marks = {"inside": "my_dot_model_hyphen_1", "outside": "strange", "hub": "some_hyphen_one"}
    return Loaded(
        world=world,
        home=place / "home",
        files={name: tuple(path for path in files if mark in path.parts) for name, mark in marks.items()},
        beside=(inside, outside, snapshot),
    )


@pytest.fixture(autouse=True)
def as_it_was(loaded: Loaded) -> None:
    """Every file is as it was loaded, whatever the test before did to it."""
    for path in (path for files in loaded.files.values() for path in files):
        path.write_text(MODEL.get(path.name, ""))
    for folder in loaded.beside[:2]:
        for name, text in MODEL.items():
            (folder / name).write_text(text)


def test_code_of_a_folder_in_the_project_is_the_commits(loaded: Loaded) -> None:
    found = loaded.judge("inside")
    assert {name: file.verdict for name, file in found.items() if name != "__init__.py"} == {
        "configuration_tiny.py": FileVerdict.COMMITTED,
        "parts.py": FileVerdict.COMMITTED,
    }
    assert found["parts.py"].path == loaded.world.top / "models/my.model-1/parts.py"
    assert found["__init__.py"].verdict is FileVerdict.GENERATED


def test_an_edit_in_that_folder_is_seen_although_its_copy_ran(loaded: Loaded) -> None:
    for path in (loaded.beside[0] / "parts.py", loaded.run_copy("inside", "parts.py")):
        path.write_text("WIDTH = 8\n")
    found = loaded.judge("inside")
    assert found["parts.py"].verdict is FileVerdict.MODIFIED
    assert str(found["parts.py"].owner).endswith(":models/my.model-1/parts.py")
    assert found["configuration_tiny.py"].verdict is FileVerdict.COMMITTED


def test_a_copy_that_was_edited_itself_is_no_commits(loaded: Loaded) -> None:
    loaded.run_copy("inside", "parts.py").write_text("WIDTH = 8\n")
    assert loaded.judge("inside")["parts.py"].verdict is FileVerdict.CHANGED_SINCE


def test_a_model_whose_config_was_not_seen_is_found_by_its_bytes(loaded: Loaded) -> None:
    without = Loaded(world=loaded.world, home=loaded.home, files=loaded.files, beside=())
    found = without.judge("inside")["parts.py"]
    assert found.verdict is FileVerdict.COMMITTED and "models/my.model-1/parts.py" in found.detail
    loaded.run_copy("inside", "parts.py").write_text("WIDTH = 8\n")
    assert without.judge("inside")["parts.py"].verdict is FileVerdict.ORPHAN


def test_code_of_a_folder_that_nobody_holds_is_nobodys(loaded: Loaded) -> None:
    found = loaded.judge("outside")["configuration_tiny.py"]
    assert (found.verdict, found.owner.kind, str(found.owner)) == (
        FileVerdict.ORPHAN,
        OwnerKind.HUB,
        "strange (a folder)",
    )
    assert found.path == loaded.beside[1] / "configuration_tiny.py"


def test_a_folder_that_was_downloaded_names_its_commit(loaded: Loaded) -> None:
    folder = loaded.beside[1]
    told = folder / ".cache/huggingface/download"
    told.mkdir(parents=True)
    try:
        for name, text in MODEL.items():
            blob = hub.blob_id(text.encode(), "sha1")
            (told / f"{name}.metadata").write_text(f"{COMMIT}\n{blob}\n1796050000.0\n")
        found = loaded.judge("outside")["parts.py"]
        assert (found.verdict, str(found.owner)) == (FileVerdict.HUB, f"strange@{COMMIT}")
        for path in (folder / "parts.py", loaded.run_copy("outside", "parts.py")):
            path.write_text("WIDTH = 8\n")
        assert loaded.judge("outside")["parts.py"].verdict is FileVerdict.ORPHAN
    finally:
        for path in told.iterdir():
            path.unlink()


def test_code_from_the_hub_is_named_and_held_by_its_commit(loaded: Loaded) -> None:
    found = loaded.judge("hub")
    assert found["parts.py"].verdict is FileVerdict.HUB
    assert str(found["parts.py"].owner) == f"some-one/a.model@{COMMIT}"
    loaded.run_copy("hub", "parts.py").write_text("WIDTH = 8\n")
    found = loaded.judge("hub")
    assert found["parts.py"].verdict is FileVerdict.DIFFERS_FROM_HUB
    assert found["configuration_tiny.py"].verdict is FileVerdict.HUB


def test_where_the_hubs_cache_is_gone_the_path_is_believed(loaded: Loaded) -> None:
    without = Loaded(world=loaded.world, home=loaded.home, files=loaded.files, beside=())
    found = without.judge("hub")["parts.py"]
    assert found.verdict is FileVerdict.HUB and "no cache of the hub" in found.detail


def test_an_edit_after_loading_is_told(loaded: Loaded) -> None:
    path = loaded.run_copy("hub", "parts.py")
    before = LoadedFile(path=path, sha256=hashlib.sha256(b"WIDTH = 2\n").hexdigest())
    (found,) = identify([before], interpreter(), beside=loaded.beside).files
    assert found.verdict is FileVerdict.CHANGED_SINCE


@pytest.mark.parametrize("model", ["inside", "hub"])
def test_a_copy_that_a_later_run_wrote_anew_does_not_accuse_this_one(loaded: Loaded, model: str) -> None:
    """transformers 4 has one copy for every state of a folder."""
    path = loaded.run_copy(model, "parts.py")
    path.write_text("WIDTH = 8\n")
    before = LoadedFile(path=path, sha256=hashlib.sha256(MODEL["parts.py"].encode()).hexdigest())
    (found,) = identify([before], interpreter(), beside=loaded.beside).files
    assert found.verdict in (FileVerdict.COMMITTED, FileVerdict.HUB)
    path.unlink()
    assert identify([before], interpreter(), beside=loaded.beside).files[0].verdict is found.verdict
    if model == "inside":
        (loaded.beside[0] / "parts.py").write_text("WIDTH = 8\n")
        (found,) = identify([before], interpreter(), beside=loaded.beside).files
        assert found.verdict is FileVerdict.COMMITTED and "changed afterwards" in found.detail


def test_without_asking_the_hubs_cache_an_edited_copy_would_be_believed(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bend: a path that names a commit is no proof of the bytes under it."""
    monkeypatch.setattr(hub, "origin", lambda file, beside: None)
    loaded.run_copy("hub", "parts.py").write_text("WIDTH = 8\n")
    assert loaded.judge("hub")["parts.py"].verdict is FileVerdict.HUB


def test_code_in_a_made_init_is_not_called_made(loaded: Loaded) -> None:
    (path,) = (path for path in loaded.files["hub"] if path.name == "__init__.py" and path.parent.name == COMMIT)
    path.write_text("print('I was put here')\n")
    (found,) = identify([LoadedFile(path=path)], interpreter(), beside=loaded.beside).files
    assert found.verdict is not FileVerdict.GENERATED


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (f"transformers_modules/gpt2/{COMMIT}/a.py", ("gpt2", COMMIT, "a.py")),
        (f"transformers_modules/o/_7b_hyphen_x/{COMMIT}/sub/a.py", ("o/7b-x", COMMIT, "sub/a.py")),
        ("transformers_modules/folder/0123456789abcdef/a.py", ("folder", "", "a.py")),
        ("transformers_modules/folder/a.py", ("folder", "", "a.py")),
        ("transformers_modules/__init__.py", ("", "", "__init__.py")),
    ],
)
def test_the_paths_of_both_generations(path: str, said: tuple[str, str, str]) -> None:
    found = hub.hub_file(Path("/home/me/.cache/huggingface/modules") / path)
    assert found is not None and (found.model, found.commit, found.path) == said


@pytest.mark.parametrize("path", ["/p/train.py", "/p/transformers_modules", "/p/my_transformers_modules/x.py"])
def test_other_paths_are_no_models(path: str) -> None:
    assert hub.hub_file(Path(path)) is None


@pytest.mark.parametrize(
    ("noted", "committed", "expected"),
    [
        ("metrics/score.py", True, FileVerdict.COMMITTED),
        ("metrics/score.py", False, FileVerdict.ORPHAN),
        ("https://hub.example.org/spaces/metric/score/resolve/v1/score.py", False, FileVerdict.HUB),
    ],
)
def test_the_copy_of_a_metric_is_what_its_loader_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: str, committed: bool, expected: FileVerdict
) -> None:
    """As evaluate lays it: a folder named for the content, a note, and packages that are empty."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    world = new_world(tmp_path / "r")
    source = "def compute():\n    return 1\n"
    if committed:
        (world.top / "metrics").mkdir()
        (world.top / "metrics/score.py").write_text(source)
        world.commit()
    place = tmp_path / f"home/modules/evaluate_modules/metrics/score/{'a' * 64}"
    place.mkdir(parents=True)
    (place / "score.py").write_text(source)
    (place / "score.json").write_text(json.dumps({"original file path": noted}))
    (place / "__init__.py").touch()
    loaded = [
        LoadedFile(path=path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
        for path in (place / "score.py", place / "__init__.py")
    ]
    code = identify([*loaded, LoadedFile(path=world.top / "main.py")], interpreter())
    assert [file.verdict for file in code.files[:-1]] == [expected, FileVerdict.GENERATED]


def test_a_metric_of_the_project_that_was_edited_is_seen_although_its_copy_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    world = new_world(tmp_path / "r")
    (world.top / "score.py").write_text("ONE = 1\n")
    world.commit()
    (world.top / "score.py").write_text("ONE = 2\n")
    place = tmp_path / f"home/modules/evaluate_modules/metrics/score/{'b' * 64}"
    place.mkdir(parents=True)
    (place / "score.py").write_text("ONE = 2\n")
    (place / "score.json").write_text(json.dumps({"original file path": str(world.top / "score.py")}))
    held = LoadedFile(path=place / "score.py", sha256=hashlib.sha256(b"ONE = 2\n").hexdigest())
    (found, _) = identify([held, LoadedFile(path=world.top / "main.py")], interpreter()).files
    assert found.verdict is FileVerdict.MODIFIED
