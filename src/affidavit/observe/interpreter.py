"""Where the TRAINING interpreter keeps its packages: it may be another environment than ours."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.observe.error import InterpreterError

_QUESTION: Final = """
import json, site, sys, sysconfig
paths = sysconfig.get_paths()
sites = [paths["purelib"], paths["platlib"], *site.getsitepackages(), site.getusersitepackages()]
print(json.dumps({
    "prefix": sys.prefix, "base_prefix": sys.base_prefix,
    "sites": sites + [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))],
    "stdlib": [paths["stdlib"], paths["platstdlib"]] + [p for p in sys.path if p.endswith(".zip")],
}))
"""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """The folders of one Python environment, symbolic links resolved.

    `sites` are the folders into which packages are installed, `stdlib` those of the standard library.
    """

    prefix: Path
    base_prefix: Path
    sites: tuple[Path, ...]
    stdlib: tuple[Path, ...]

    @classmethod
    def from_paths(
        cls, *, prefix: str, base_prefix: str, sites: tuple[str, ...], stdlib: tuple[str, ...]
    ) -> Interpreter:
        """The environment from the strings that a training process reported about itself."""
        return cls(
            prefix=Path(prefix).resolve(),
            base_prefix=Path(base_prefix).resolve(),
            sites=tuple(dict.fromkeys(Path(site).resolve() for site in sites)),
            stdlib=tuple(dict.fromkeys(Path(folder).resolve() for folder in stdlib)),
        )

    @classmethod
    def of(cls, executable: Path, *, limit_seconds: float = 20.0) -> Interpreter:
        """The environment of a Python executable, asked in isolated mode, before anything is run with it.

        Raises:
            InterpreterError: it did not start, did not answer in time, or answered something else.
        Source: playbook §4.4; sysconfig and site of the interpreter itself, since only it knows its venv.
        Blind to: folders that PYTHONPATH or the script adds to sys.path later. Start-up code of that environment
            (.pth lines, sitecustomize) runs, as it does for every Python started there.
        """
        command = [os.fspath(executable), "-I", "-c", _QUESTION]
        try:
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_seconds, check=True
            )
            told = json.loads(ended.stdout.splitlines()[-1])
            return cls.from_paths(
                prefix=told["prefix"],
                base_prefix=told["base_prefix"],
                sites=tuple(told["sites"]),
                stdlib=tuple(told["stdlib"]),
            )
        except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
            raise InterpreterError(
                f"interpreter.paths: expected the package folders of {executable} (sysconfig), "
                f"saw {type(error).__name__}: {error}.\n"
                f"This means installed code cannot be told from code of your own. Run "
                f"\"{executable} -I -c 'import sysconfig'\".\n"
                f"Not affected: files inside a git repository."
            ) from error
