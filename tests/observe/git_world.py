"""Small real repositories: no mocks, since what git says under odd settings is the thing under test."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

from affidavit.observe.code import CodeIdentity, FileIdentity, LoadedFile, identify
from affidavit.observe.interpreter import Interpreter

IDENTITY = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
}


def interpreter() -> Interpreter:
    """The interpreter that runs the tests, as one would describe any other."""
    paths = sysconfig.get_paths()
    return Interpreter.from_paths(
        prefix=sys.prefix,
        base_prefix=sys.base_prefix,
        sites=(paths["purelib"], paths["platlib"]),
        stdlib=(paths["stdlib"], paths["platstdlib"]),
    )


@dataclass(frozen=True, kw_only=True)
class World:
    """A repository on disk and the two verbs that every trap needs."""

    top: Path

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        ended = subprocess.run(
            command,
            cwd=folder or self.top,
            env=os.environ | IDENTITY,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, (arguments, ended.stderr)
        return ended.stdout

    def write(self, path: str, text: str) -> Path:
        target = self.top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        return target

    def commit(self, message: str = "c", folder: Path | None = None) -> str:
        self.git("add", "-A", folder=folder)
        self.git("commit", "-qm", message, folder=folder)
        return self.git("rev-parse", "HEAD", folder=folder).strip()

    def age(self) -> None:
        """Old time stamps and a fresh index, so that git's stat cache has its full say."""
        old = time.time() - 100
        for path in self.top.rglob("*"):
            if ".git" not in path.parts and path.is_file():
                os.utime(path, (old, old))
        self.git("status")

    def identify(self, *paths: str, sha256: str | None = None) -> CodeIdentity:
        files = [LoadedFile(path=self.top / path, sha256=sha256) for path in paths]
        return identify(files, interpreter())

    def one(self, path: str, sha256: str | None = None) -> FileIdentity:
        return self.identify(path, sha256=sha256).files[0]


def new_world(folder: Path, *, object_format: str = "sha1") -> World:
    """A repository with `main.py`, `mod.py` and a `.gitignore` that hides `ign.py`, committed."""
    folder.mkdir(parents=True)
    world = World(top=folder)
    world.git("init", "-q", "-b", "main", f"--object-format={object_format}")
    world.write("mod.py", "K=1\n")
    world.write("main.py", "import mod\n")
    world.write(".gitignore", "ign.py\n*.pyc\n")
    world.commit()
    return world


def with_submodule(world: World) -> World:
    """The same world with a submodule `sub` that holds `sm.py`."""
    source = world.top.parent / "source"
    source.mkdir()
    world.git("init", "-q", folder=source)
    (source / "sm.py").write_text("K=1\n")
    world.commit(folder=source)
    world.git("submodule", "--quiet", "add", str(source), "sub")
    world.commit("submodule")
    return world
