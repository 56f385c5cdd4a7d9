"""The files of a project, and which of them an import statement means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affidavit.lint.scripts.source import Source, read


class Project:
    """Every file once, by its path, and by the names under which the others import it.

    Blind to: entries that a script adds to ``sys.path``; import hooks.
    """

    def __init__(self, files: Sequence[Path], root: Path) -> None:
        self.root = root
        self.sources = {path: read(path, _module(path, root)) for path in files}
        self._by_path = {str(path): source for path, source in self.sources.items()}
        self._tops = self._packages()

    def _packages(self) -> dict[str, Path | None]:
        """Return the folders of packages that stand at the top of their tree; None where two have one name."""
        tops: dict[str, Path | None] = {}
        for path in self.sources:
            if path.name == "__init__.py" and str(path.parent.parent / "__init__.py") not in self._by_path:
                name = path.parent.name
                tops[name] = path.parent if name not in tops else None
        return tops

    def find(self, module: str, importer: Source, level: int) -> Source | None:
        """Return the project's file that the importer means by a module's name, None where it is not the project's."""
        if level:
            folder = importer.path.parent
            for _ in range(level - 1):
                folder = folder.parent
            return self._in(folder, module)
        for folder in (importer.path.parent, self.root, self.root / "src"):
            found = self._in(folder, module)
            if found is not None:
                return found
        top = self._tops.get(module.partition(".")[0])
        return self._in(top.parent, module) if top is not None else None

    def owns(self, module: str, importer: Source) -> bool:
        """Whether the first part of a dotted name is the project's, even where the whole is not found."""
        top = module.partition(".")[0]
        return top in self._tops or self.find(top, importer, 0) is not None

    def _in(self, folder: Path, module: str) -> Source | None:
        base = f"{folder}/{module.replace('.', '/')}" if module else str(folder)
        return self._by_path.get(f"{base}.py") or self._by_path.get(f"{base}/__init__.py")


def _module(path: Path, root: Path) -> str:
    try:
        parts = path.relative_to(root).with_suffix("").parts
    except ValueError:
        parts = (path.stem,)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
