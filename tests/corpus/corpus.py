"""The corpus: public reports by their row, the scripts that show them, and the table of what is caught.

``python tests/corpus/corpus.py`` writes the table to docs/corpus.md.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tomllib

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "docs" / "corpus.md"
CLASSES = {
    "L1": "cache meaning",
    "L2": "names and values that do not arrive",
    "L3": "what ran differs from what was asked",
    "L3b": "loss masks, labels, templates",
    "L4": "provenance",
    "L5": "liveness and exit codes",
    "L6": "gates that cannot say no, and wrong scoring",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One public report: what happened, and what of ours sees it.

    Args:
        shown: the test, or the world of a check, in which this fault happens, where it has no scripts here.
    """

    id: str
    report: str
    what: str
    needs: str = ""
    missed: str = ""
    shown: str = ""

    @property
    def folder(self) -> Path:
        return HERE / self.id.lower().replace("-", "_")

    @property
    def is_project(self) -> bool:
        """Whether the fault lies in the project and not in the training: a shell script lays it, and lies beside."""
        return (self.folder / "fault.sh").is_file()

    @property
    def fault(self) -> Path:
        return self.folder / ("fault.sh" if self.is_project else "fault.py")

    @property
    def clean(self) -> Path:
        return self.folder / ("clean.sh" if self.is_project else "clean.py")

    @property
    def has_scripts(self) -> bool:
        return self.fault.is_file()

    @property
    def caught_by(self) -> str:
        """The check that must tell the fault from its twin, as the fault's script names it."""
        return str(self._constant("CAUGHT_BY"))

    @property
    def ranks(self) -> int:
        """How many processes the scripts are; more than one starts cold, under torchrun."""
        return int(str(self._constant("RANKS", 1)))

    def _constant(self, name: str, otherwise: object = None) -> object:
        script = self.folder / "train.py" if self.is_project else self.fault
        for node in ast.parse(script.read_text()).body:
            if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == [name]:
                return ast.literal_eval(node.value)
        if otherwise is None:
            raise AssertionError(f"{script}: expected {name} = … at top level.")
        return otherwise


def rows() -> tuple[Row, ...]:
    return tuple(Row(**entry) for entry in tomllib.loads((HERE / "rows.toml").read_text())["row"])


def table() -> str:
    """Return the table as a page: every row, and whether it is caught, missed or needs what is not built."""
    found = rows()
    return "\n".join([*_head(found), *(line for name in CLASSES for line in _class(name, found))]) + "\n"


def _head(found: tuple[Row, ...]) -> Iterator[str]:
    counts = Counter(_verdict(row) for row in found)
    yield "# The corpus"
    yield ""
    yield "Public reports of runs that completed and were wrong about themselves, and what Affidavit says of them."
    yield "A row that is caught has a script in which the fault happens and a twin in which it does not, under"
    yield "`tests/corpus/` or where the row says; both run in every test. This page is generated:"
    yield "`python tests/corpus/corpus.py`."
    yield ""
    yield f"{counts['caught']} caught, {counts['missed']} missed, {counts['later']} need what is not built yet."


def _class(name: str, found: tuple[Row, ...]) -> Iterator[str]:
    yield ""
    yield f"## {name}: {CLASSES[name]}"
    yield ""
    yield "| row | report | what happened | |"
    yield "|---|---|---|---|"
    for row in found:
        if row.id.partition("-")[0] == name:
            yield f"| {row.id} | {row.report} | {row.what} | {_said(row)} |"


def _verdict(row: Row) -> str:
    return "caught" if row.has_scripts or row.shown else "later" if row.needs else "missed"


def _said(row: Row) -> str:
    if row.has_scripts:
        return f"caught: `{row.caught_by}`"
    if row.shown:
        file, _, test = row.shown.partition("::")
        word = Path(file).stem if test else f"`{Path(file).parent.name.replace('_', '-')}`"
        return f"caught: [{word}](../{file})"
    return f"needs {row.needs}" if row.needs else f"missed: {row.missed}"


if __name__ == "__main__":
    TABLE.write_text(table())
