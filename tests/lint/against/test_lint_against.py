"""Another version beside the installed one: what breaks, what moves, and what a scratch folder costs."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from affidavit.fact.errors import AffidavitError
from affidavit.lint.against import Row, differences, fetch, moved
from affidavit.lint.catalogue import Catalogue
from affidavit.lint.request import Given, Request

SCRIPT = Path("train.py")
OLD = """
class Args:
    def __init__(self, rate=0.1, steps=10, left=None, ratio=0.0, mode="a", empty=None, computed=f()): ...
class Gone: ...
def loads(path, **kw):
    kw.pop("heeded", None)
    kw.pop("also", None)
"""
NEW = '''
class Args:
    """
    Args:
        mode (`str`):
            Deprecated. Use `rate`.
    """
    def __init__(self, rate=0.2, steps=10, ratios=0.0, mode="a", empty=False, computed=g()): ...
def loads(path, **kw):
    kw.pop("also", None)
'''


def wheel(folder: Path, version: str, text: str) -> Path:
    """Write the smallest thing that is a wheel."""
    path = folder / f"pack-{version}-py3-none-any.whl"
    info = f"pack-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pack/__init__.py", text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: pack\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"pack/__init__.py,sha256={len(text)},{len(text)}\n")
    return path


def asks(callee: str, line: int = 1, **given: str) -> Request:
    names = tuple(Given(name=name, path=SCRIPT, line=line, value=value) for name, value in given.items())
    return Request(callee=callee, given=names, path=SCRIPT, line=line)


def said(rows: tuple[Row, ...]) -> dict[str, str]:
    return {f"{row.name} {row.kind}": row.said for row in rows}


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Catalogue, Catalogue]]:
    old = fetch(str(wheel(tmp_path, "1.0", OLD)), tmp_path / "old")
    new = fetch(str(wheel(tmp_path, "2.0", NEW)), tmp_path / "new")
    yield Catalogue(old, tmp_path / "store"), Catalogue(new, tmp_path / "store")


def test_every_kind_of_difference_is_told(sides: tuple[Catalogue, Catalogue]) -> None:
    requests = [
        asks("pack.Args", left="1", ratio=".1", mode="'a'", never="0"),
        asks("pack.Gone"),
        asks("pack.loads", heeded="1", also="2", unheard="3"),
    ]
    rows = differences(requests, *sides)
    assert said(rows) == {
        "left gone": "not taken by pack 2.0",
        "ratio renamed": "pack 2.0 has ratios",
        "mode deprecated": "Deprecated. Use `rate`.",
        "rate default moved": "left to its default, which was 0.1 in pack 1.0 and is 0.2 in pack 2.0",
        "Gone gone": "pack of pack 2.0 has no Gone",
        "heeded gone": "not taken by pack 2.0; swallowed without a word",
    }
    assert [row.name for row in rows if row.breaks] == ["left", "ratio", "Gone", "heeded"]
    assert {(row.path, row.line) for row in rows} == {(SCRIPT, 1)}


def test_what_may_be_given_is_not_said_to_be_left_out(sides: tuple[Catalogue, Catalogue]) -> None:
    spread = Request(callee="pack.Args", given=(), path=SCRIPT, line=1, is_open=True)
    placed = Request(callee="pack.Args", given=(), path=SCRIPT, line=1, positional=1)
    bare = Request(callee="pack.Args", given=(), path=SCRIPT, line=1)
    assert [said(differences([one], *sides)) for one in (spread, placed)] == [{}, {}]
    assert list(said(differences([bare], *sides))) == ["rate default moved"]


def test_the_same_version_differs_in_nothing(sides: tuple[Catalogue, Catalogue]) -> None:
    requests = [asks("pack.Args", left="1", never="0"), asks("pack.Gone"), asks("absent.Thing", x="1")]
    assert differences(requests, sides[0], sides[0]) == ()


def test_what_is_given_has_no_moved_default(sides: tuple[Catalogue, Catalogue]) -> None:
    assert differences([asks("pack.Args", rate="0.1")], *sides) == ()


def test_a_union_is_asked_part_by_part(sides: tuple[Catalogue, Catalogue]) -> None:
    rows = differences([asks("pack.Args + pack.loads", rate="1", heeded="1")], *sides)
    assert [row.name for row in rows] == ["heeded"]


def test_defaults_that_moved_since_are_found_in_the_store(sides: tuple[Catalogue, Catalogue]) -> None:
    old, new = sides
    requests = [asks("pack.Args", steps="3")]
    assert moved(requests, new, new.before({"pack": "1.0"})) == (), "never read, so nothing is said"
    old.find("pack.Args")
    rows = moved(requests, new, new.before({"pack": "1.0"}))
    assert [(row.name, row.kind) for row in rows] == [("rate", "default moved")]


def test_pip_installs_a_version_into_a_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(tmp_path, "1.0", OLD)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    sites = fetch("pack==1.0", tmp_path / "scratch")
    assert Catalogue(sites, None).package_of("pack") == "pack 1.0"
    assert "pack" not in sys.modules


def test_a_folder_of_packages_is_taken_as_it_is(tmp_path: Path) -> None:
    assert fetch(str(tmp_path), tmp_path / "scratch") == (tmp_path.resolve(),)
    assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize("requirement", ["pack==9.9", "--upgrade", "broken.whl"])
def test_what_cannot_be_had_says_so(requirement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.chdir(tmp_path)
    Path("broken.whl").write_text("no archive")
    with pytest.raises(AffidavitError) as caught:
        fetch(requirement, tmp_path / "scratch")
    first, means, unaffected = str(caught.value).splitlines()
    assert first.startswith(f"against: expected a version that pip can fetch ({requirement}), saw ")
    assert means.startswith("Nothing was compared. Run ")
    assert unaffected == "Not affected: what is installed; it was not touched."


@pytest.fixture
def stacks(old_python: Path, tmp_path: Path) -> tuple[Catalogue, Catalogue]:
    site = list(Path(sys.prefix).glob("lib/python3*/site-packages"))
    older = [*old_python.parent.parent.glob("lib/python3*/site-packages"), *site]
    return Catalogue(older, tmp_path), Catalogue(site, tmp_path)


def test_the_upgrade_of_the_stack_is_seen_before_it_hurts(stacks: tuple[Catalogue, Catalogue]) -> None:
    loader = "transformers.AutoModelForCausalLM.from_pretrained"
    requests = [
        asks("transformers.TrainingArguments", 1, warmup_ratio="0.1", group_by_length="True", learning_rate="1e-4"),
        asks("trl.SFTConfig", 2, warmup_steps="1.0", overwrite_output_dir="True"),
        asks(loader, 3, load_in_4bit="True"),
        asks(
            "transformers.AutoModelForCausalLM.from_pretrained", 4, torch_dtype="'auto'", attn_implementation="'sdpa'"
        ),
        asks("transformers.PreTrainedTokenizerBase.apply_chat_template", 5, tokenize="True"),
        asks("trl.DPOConfig", 6, max_prompt_length="64", report_to="'none'"),
        asks("transformers.Trainer", 7, tokenizer=""),
        asks("peft.LoraConfig", 8, r="8"),
        asks("transformers.LlamaConfig", 9, hidden_size="8"),
    ]
    rows = differences(requests, *stacks)
    assert {(row.line, row.name) for row in rows if row.breaks} == {
        (1, "warmup_ratio"),
        (1, "group_by_length"),
        (2, "overwrite_output_dir"),
        (3, "load_in_4bit"),
        (6, "max_prompt_length"),
        (7, "tokenizer"),
    }
    assert {(row.line, row.name) for row in rows if row.kind == "meaning"} == {
        (1, "report_to"),
        (2, "report_to"),
        (2, "warmup_steps"),
        (3, "dtype"),
        (5, "return_dict"),
        (6, "truncation_mode"),
    }
    assert {row.line for row in rows if row.line in {4, 8, 9}} == set()
