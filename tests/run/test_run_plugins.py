"""A plugin is loaded whole or not at all, and what was loaded is a fact."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_world import Project

from affidavit.check import drill
from affidavit.fact.observation import Known
from affidavit.run.plugins import PluginError, load_house

TERMS = """\
from affidavit.fact.term import Method, Scope, Term

TERMS = (Term(name="{prefix}.drift_kl", type=float, unit="nats", scope=Scope.RANK, least=Method.EXECUTED, meaning="x"),)
"""
CHECK = '''\
from affidavit.case import case_of
from affidavit.check import Fail, Landmine, Pass, check
from affidavit.fact.term import Vocabulary
from affidavit.fact.vocabulary import load
from {package}.terms import TERMS


@check("{prefix}-drift-small", needs=("{prefix}.drift_kl",), landmine=Landmine.RESULT, unaffected="all else")
def drift_small(case):
    """The policy stays near its reference."""
    return Fail(expected="< 1", saw="more", means="x") if case.value("{prefix}.drift_kl") > 1 else Pass(1)


@drift_small.healthy
def _():
    return case_of(run={{"{prefix}.drift_kl": 0.1}}, vocabulary=Vocabulary((*load(), *TERMS)))


@drift_small.sabotage("it ran away")
def _(case):
    return case.altered("{prefix}.drift_kl", 9.0)
'''


def _write(folder: Path, files: dict[str, str], *, prefix: str, package: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text.format(prefix=prefix, package=package))


WHOLE = {
    "__init__.py": 'TERMS = ("terms",)\nINSTRUMENTS = ("drift",)\nCHECKS = ("small",)\n',
    "terms.py": TERMS,
    "small.py": CHECK,
    "drift.py": "raise ImportError('instruments are for the training process')\n",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, with one plugin's metadata in it."""
    place = tmp_path / "site"
    metadata = place / "acme_drift-1.2.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-drift\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text("[affidavit.plugins]\nacme = acme_drift\n")
    monkeypatch.syspath_prepend(str(place))
    yield place
    for name in [name for name in sys.modules if name.partition(".")[0] in ("acme_drift", "affidavit_checks")]:
        del sys.modules[name]


def test_an_installed_plugin_brings_terms_checks_and_what_the_inside_needs(site: Path, project: Project) -> None:
    _write(site / "acme_drift", WHOLE, prefix="acme", package="acme_drift")
    house = load_house(project.root)
    assert "acme.drift_kl" in house.vocabulary
    (brought,) = [check for check in house.checks if check.id.startswith("acme-")]
    assert brought.example is not None and drill(brought, brought.example()).caught
    (plugin,) = house.plugins
    assert (plugin.prefix, plugin.package, plugin.instruments) == ("acme", "acme_drift", ("drift",))
    assert Path(plugin.folder) == site / "acme_drift"
    assert isinstance(house.fact.state, Known) and house.fact.state.value == ("acme 1.2",)


def test_without_plugins_that_too_is_a_fact(project: Project) -> None:
    house = load_house(project.root)
    assert isinstance(house.fact.state, Known) and house.fact.state.value == ()
    assert house.checks and not house.plugins


@pytest.mark.parametrize("declared", [True, False], ids=["with an __init__", "without"])
def test_the_projects_own_folder_is_a_plugin(project: Project, declared: bool) -> None:
    files = dict(WHOLE) if declared else {name: text for name, text in WHOLE.items() if name.endswith(("s.py", "l.py"))}
    _write(project.root / "affidavit_checks", files, prefix="project", package="affidavit_checks")
    house = load_house(project.root)
    assert [check.id for check in house.checks if check.id.startswith("project-")] == ["project-drift-small"]
    assert isinstance(house.fact.state, Known)
    (said,) = house.fact.state.value  # type: ignore[misc]
    assert said.startswith("project sha256:")
    (project.root / "affidavit_checks" / "terms.py").write_text(TERMS.format(prefix="project") + "# changed\n")
    again = load_house(project.root).fact.state
    assert isinstance(again, Known) and again.value != house.fact.state.value


BROKEN = {
    "missing": ({}, "No module named"),
    "raises": ({"__init__.py": "1 / 0\n"}, "ZeroDivisionError"),
    "declares nothing": ({"__init__.py": ""}, "declares none of TERMS, INSTRUMENTS, CHECKS"),
    "foreign term": ({**WHOLE, "terms.py": TERMS.replace("{prefix}.", "tokens.")}, 'terms under "acme." only'),
    "foreign check": ({**WHOLE, "small.py": CHECK.replace('"{prefix}-', '"my-')}, 'do not begin with "acme-"'),
    "misspelt": ({**WHOLE, "small.py": "def small(case): ...\n"}, "registers no check"),
    "no sabotage": ({**WHOLE, "small.py": CHECK.split("@drift_small.sabotage")[0]}, "it has no sabotage"),
}


@pytest.mark.parametrize(("files", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_one_clear_error_and_nothing_is_half_loaded(
    site: Path, project: Project, files: dict[str, str], said: str
) -> None:
    if files:
        _write(site / "acme_drift", files, prefix="acme", package="acme_drift")
    with pytest.raises(PluginError) as refused:
        load_house(project.root)
    assert "plugin acme" in str(refused.value) and said in str(refused.value)
    assert "Not affected:" in str(refused.value)


def test_every_broken_plugin_is_named_at_once(site: Path, project: Project) -> None:
    _write(site / "acme_drift", {"__init__.py": "1 / 0\n"}, prefix="acme", package="acme_drift")
    _write(project.root / "affidavit_checks", {"x.py": "import nowhere\n"}, prefix="p", package="p")
    with pytest.raises(PluginError, match=r"(?s)plugin acme.*affidavit_checks: .*nowhere"):
        load_house(project.root)
