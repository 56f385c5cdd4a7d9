"""What earlier versions took, as far as they were read while they were installed: the memory of the store."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit.lint.catalogue.missing import Missing
from affidavit.lint.catalogue.package import Packages
from affidavit.lint.catalogue.store import Store
from affidavit.names.signature import Signature


class Past:
    """Signatures of given versions of packages, for which no file needs to be there any more.

    Args:
        versions: the version of each distribution that is asked about; others count as they are installed.
    """

    def __init__(self, store: Store | None, packages: Packages, versions: Mapping[str, str]) -> None:
        self._store = store
        self._packages = packages
        self._versions = dict(versions)

    def find(self, callee: str) -> Signature | Missing:
        """Return what a callable took then, Missing where nobody read it while that version was installed."""
        package = self.package_of(callee.partition(".")[0])
        if not package:
            return Missing(why=f"{callee.partition('.')[0]} is not installed", package_absent=True)
        found = self._store.past(callee, package, self._versions) if self._store is not None else None
        return found or Missing(why=f"{callee} of {package} was never read", package_absent=False)

    def package_of(self, module: str) -> str:
        """Return the distribution of a module and the version that is asked about."""
        found = self._packages.of(module)
        if found is None:
            return ""
        return f"{found.name} {self._versions.get(found.name, found.version)}".strip()
