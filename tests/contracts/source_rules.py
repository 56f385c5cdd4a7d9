"""Rules that no linter knows, each a pure function of the source, each with a bend that must make it go red.

A rule looks at one file at a time: its path below ``src/affidavit`` and its syntax tree. What it returns is what is
wrong there, by line. ``allowed`` names the files that may do it, with the reason.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Offences = Iterator[tuple[int, str]]
Sources = Mapping[str, str]

VERDICT_WORDS = ("PASS", "FAIL", "REVIEW", "UNKNOWN", "NOT_APPLICABLE")
FRAMEWORKS = ("accelerate", "datasets", "joblib", "lightning", "peft", "pytorch_lightning", "transformers", "trl")
WORLDLY = ("datetime", "io", "os", "pathlib", "random", "secrets", "socket", "subprocess", "sys", "tempfile", "time")


@dataclass(frozen=True)
class Rule:
    """One sentence about the source, how to see it broken, and a file that breaks it."""

    says: str
    within: tuple[str, ...]
    find: Callable[[str, ast.Module], Offences]
    bend: tuple[str, str]
    allowed: Mapping[str, str] = field(default_factory=dict)

    def offences(self, sources: Sources) -> list[str]:
        """Return ``path:line what`` for every place that breaks the rule."""
        return [
            f"{path}:{line} {what}"
            for path, text in sorted(sources.items())
            if path.startswith(self.within) and not path.startswith(tuple(self.allowed))
            for line, what in self.find(path, ast.parse(text))
        ]


def _name(node: ast.AST) -> str:
    """Return the dotted name of an expression, or ""."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _docstrings(tree: ast.Module) -> set[int]:
    """Return the identities of every string that only explains."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every string that the program uses, docstrings left out."""
    spoken = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken:
            yield node.lineno, node.value


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every imported module by its full name, also those inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _exits(_: str, tree: ast.Module) -> Offences:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ("sys.exit", "exit", "quit", "SystemExit"):
            yield node.lineno, f"{_name(node.func)}()"
        elif isinstance(node, ast.Raise) and node.exc is not None and _name(node.exc) == "SystemExit":
            yield node.lineno, "raise SystemExit"


def _verdict_words(_: str, tree: ast.Module) -> Offences:
    for line, text in _strings(tree):
        words = text.replace(":", " ").replace(",", " ").replace(".", " ").split()
        yield from ((line, f'"{word}"') for word in VERDICT_WORDS if word in words)


def _foreign_imports(path: str, tree: ast.Module) -> Offences:
    """A file in the training process imports the standard library, Affidavit, and what its folder may touch."""
    admitted = {*sys.stdlib_module_names, "affidavit"}
    if path.startswith("adapters/"):
        admitted.add(path.split("/")[1].removesuffix(".py"))
    if path.startswith("instruments/"):
        admitted |= {"torch", "numpy"}
    if path.startswith("cache/"):
        admitted |= {"datasets", "numpy", "pyarrow", "tokenizers"}
    if path.startswith("attach/site/"):
        admitted.add("sitecustomize")
    for line, module in _imports(tree):
        top = module.partition(".")[0]
        if top not in admitted:
            yield line, f"imports {top}"


def _framework_names(_: str, tree: ast.Module) -> Offences:
    for line, text in _strings(tree):
        if text.partition(".")[0] in FRAMEWORKS:
            yield line, f'names "{text}"'


def _speaks_of_facts(_: str, tree: ast.Module) -> Offences:
    for line, module in _imports(tree):
        if module.startswith(("affidavit.fact.vocabulary", "affidavit.attach.instrument")):
            yield line, f"imports {module}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func).rpartition(".")[2] in ("Observation", "Known", "Unknown"):
            yield node.lineno, f"makes an {_name(node.func)}"


def _judged_bodies(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the functions under ``@check(…)``."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            decorators = [made.func if isinstance(made, ast.Call) else made for made in node.decorator_list]
            if any(_name(made).rpartition(".")[2] == "check" for made in decorators):
                yield node


def _decides_absence(_: str, tree: ast.Module) -> Offences:
    forbidden = ("Verdict", "NOT_APPLICABLE", "Known", "Unknown", "Cause", "offers")
    for body in _judged_bodies(tree):
        for node in (found for part in body.body for found in ast.walk(part)):
            name = _name(node).rpartition(".")[2]
            if name in forbidden:
                yield node.lineno, f"{body.name} asks for {name}"
            if isinstance(node, ast.Compare) and _name(node.left).rpartition(".")[2] == "rank":
                yield node.lineno, f"{body.name} compares a rank"


def _touches_the_world(_: str, tree: ast.Module) -> Offences:
    for line, module in _imports(tree):
        if module.partition(".")[0] in WORLDLY:
            yield line, f"imports {module}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ("open", "print", "input"):
            yield node.lineno, f"{_name(node.func)}()"


def _compares_facts(_: str, tree: ast.Module) -> Offences:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func).rpartition(".")[2] == "Difference":
            yield node.lineno, "makes a Difference"
        if isinstance(node, ast.Compare) and all(map(_reads_a_state, (node.left, *node.comparators))):
            yield node.lineno, "compares two facts"


def _reads_a_state(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == "state" for part in ast.walk(node))


def _hides_an_error(_: str, tree: ast.Module) -> Offences:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        broad = node.type is None or _name(node.type) in ("Exception", "BaseException")
        (only, *more) = node.body
        silent = isinstance(only, ast.Pass | ast.Continue) or (isinstance(only, ast.Return) and _is_nothing(only.value))
        if broad and silent and not more:
            yield node.lineno, "a broad except that says nothing"


def _is_nothing(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and not node.value)


def _says_nothing_of_itself(path: str, tree: ast.Module) -> Offences:
    if tree.body and not ast.get_docstring(tree):
        yield 1, "has no docstring"


def _is_a_drawer(path: str, _: ast.Module) -> Offences:
    for part in path.removesuffix(".py").split("/"):
        if part.strip("_") in ("util", "utils", "helper", "helpers", "common", "misc", "manager", "base"):
            yield 1, f'"{part}" says nothing of what it holds'


RULES = (
    Rule(
        says="only cli ends the process",
        within=("",),
        find=_exits,
        bend=("run/planted.py", '"""Doc."""\nimport sys\n\ndef stop() -> None:\n    sys.exit(1)\n'),
        allowed={"cli/": "it owns the exit codes"},
    ),
    Rule(
        says="verdict words are written in check and gate only",
        within=("",),
        find=_verdict_words,
        bend=("report/planted.py", '"""Doc."""\nLINE = "3 checks: PASS"\n'),
        allowed={"check/": "they are its words"},
    ),
    Rule(
        says="the half in the training process imports the standard library and the framework a file is named for",
        within=("fact/", "attach/", "boot.py", "adapters/", "instruments/", "cache/"),
        find=_foreign_imports,
        bend=("adapters/planted.py", '"""Doc."""\n\ndef bind() -> None:\n    import transformers\n'),
    ),
    Rule(
        says="outside adapters the half in the training process names no framework",
        within=("fact/", "attach/", "boot.py", "instruments/"),
        find=_framework_names,
        bend=("instruments/planted.py", '"""Doc."""\nWATCHED = "transformers.trainer"\n'),
    ),
    Rule(
        says="adapters fire moments and know no facts",
        within=("adapters/",),
        find=_speaks_of_facts,
        bend=("adapters/planted.py", '"""Doc."""\nfrom affidavit.fact import observation\nx = observation.Known(1)\n'),
    ),
    Rule(
        says="a check's body never decides absence, ranks or verdicts",
        within=("checks/",),
        find=_decides_absence,
        bend=(
            "checks/planted.py",
            '"""Doc."""\n@check("a")\ndef a(case):\n    return Fail() if rank == 0 else case.offers("lock")\n',
        ),
    ),
    Rule(
        says="a check reads its case and nothing else",
        within=("checks/",),
        find=_touches_the_world,
        bend=("checks/planted.py", '"""Doc."""\nimport os\nHERE = open(os.devnull)\n'),
    ),
    Rule(
        says="one comparator serves lock, panel, rehearsal, parent, tracker and diff",
        within=("",),
        find=_compares_facts,
        bend=("report/planted.py", '"""Doc."""\ndef same(a, b):\n    return a.state.value == b.state.value\n'),
        allowed={"record/compare.py": "it is the one"},
    ),
    Rule(
        says="no broad except is silent",
        within=("",),
        find=_hides_an_error,
        bend=("observe/planted.py", '"""Doc."""\ntry:\n    x = 1\nexcept Exception:\n    pass\n'),
        allowed={
            "adapters/transformers/tokenizers.py": "a chat template is a program that refuses roles by raising anything"
        },
    ),
    Rule(
        says="every module says what it is",
        within=("",),
        find=_says_nothing_of_itself,
        bend=("observe/planted.py", "X = 1\n"),
    ),
    Rule(
        says="no module is a drawer",
        within=("",),
        find=_is_a_drawer,
        bend=("report/utils.py", '"""Doc."""\n'),
    ),
)
