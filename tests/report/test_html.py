"""The page of a run: what stands on it, in which order, and that nothing of a run can start anything in it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from msgspec.structs import replace as replace_struct
from tests.report.dossiers import RUN, dossier, everything, planted, record

from affidavit.fact.observation import Cause
from affidavit.fact.values import Series
from affidavit.record.manifest import Launcher
from affidavit.report.page import markup
from affidavit.report.page.chart import curve
from affidavit.report.page.dossier import Dossier
from affidavit.report.tokens import Row, Stretch

ROOT = Path(__file__).parents[2]
VOID = ("meta", "link", "br", "line", "circle", "polyline")
ATTACKS = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "javascript:alert(1)",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "\x1b[2J\x1b[31mred",
    "‮gnp.exe",
    "\udcff\ud800",
    "nul\0nul",
)


class Page(HTMLParser):
    """A page taken apart: its elements, the text of each, and what does not close."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page.decode())
        self.close()

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["title"]):
            self.texts.append(data)


def page(held: Dossier) -> Page:
    return Page(markup.render(held))


def test_the_page_says_what_the_run_was_and_what_is_not_well() -> None:
    found = page(everything()).text
    for said in (
        RUN,
        "FINISHED, step 12",
        "2026-01-01 12:00 UTC, 1 h 01 min",
        "python train.py --token 'of mine'",
        "2 of 2 attached",
        "erratum #1 (Ada, 2026-01-01): the panel had profiled another seat",
        "note the journal ends in the middle of a line (rank 1)",
        "waived by Ada until 2999-01-01: on purpose",
        "ranks-agree: Ada's waiver ended on 2025-01-01",
        "proved able to fail on 2026-01-01, 9 of 9 sabotages caught",
        "No, it is dry.<eos>",
        "⟦",
        "TrainingArguments(…)",
        "warm-up ends",
        "model.layers.{0..3}.mlp.up_proj",
        "slurm job 4711",
        "sha256:" + "ab" * 32,
    ):
        assert said in found, said


def test_sections_stand_in_the_order_in_which_a_reader_needs_them() -> None:
    found = page(everything())
    ids = [attributes["id"] for attributes in found.tags("section") if "id" in attributes]
    assert ids == ["findings", "tokens", "asked", "open", "rates", "weights", "provenance", "facts", "drills"]
    order = [found.text.index(part) for part in ("erratum #1", RUN, "FAIL", "python train.py", "Seven lines")]
    assert order == sorted(order)


def test_a_failure_that_nobody_waived_is_named_in_the_headline_and_linked() -> None:
    found = page(everything())
    links = {attributes["href"] for attributes in found.tags("a")}
    ids = {attributes.get("id") for _, attributes in found.elements}
    assert all(link is not None and link.startswith("#") and link[1:] in ids for link in links)
    head = found.text.partition("Seven lines")[0]
    assert "FAIL attention-consistent saw 48 eager" in head and "attention-as-requested" not in head  # that is waived


def test_a_clean_run_says_so_and_names_no_failure() -> None:
    held = dossier()
    worst = [finding for finding in held.statement.findings if finding.verdict.value in ("FAIL", "REVIEW", "UNKNOWN")]
    clean = replace(
        held,
        statement=replace(held.statement, findings=tuple(one for one in held.statement.findings if one not in worst)),
    )
    found = page(clean).text
    assert "Nothing failed, nothing waits for a review, nothing is unknown." in found and "✗" not in found


def test_the_markup_is_whole_and_its_headings_descend_by_one() -> None:
    found = page(everything())
    assert found.open == []
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for landmark in ("header", "main", "nav", "footer"):
        assert len(found.tags(landmark)) == 1
    assert all(attributes.get("scope") in ("col", "row") for attributes in found.tags("th"))
    held = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(held) == len(set(held))


def test_the_page_can_load_and_run_nothing() -> None:
    found = page(everything())
    policy = next(one["content"] for one in found.tags("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert not found.tags("script") and not found.tags("img") and not found.tags("iframe") and not found.tags("form")
    loading = {"src", "srcset", "action", "formaction", "data", "poster", "background", "style", "xlink:href"}
    for tag, attributes in found.elements:
        assert not loading & set(attributes) and not [name for name in attributes if name.startswith("on")], tag
    assert [one["href"] for one in found.tags("link")] == ["data:,"]


def test_one_place_alone_puts_text_on_the_page_unescaped() -> None:
    folder = files("affidavit.report.page")
    templates = {name: (folder / name).read_text() for name in ("report.html", "parts.html")}
    unsafe = [
        line for text in templates.values() for line in text.splitlines() if re.search(r"\|\s*safe|autoescape", line)
    ]
    assert unsafe == ["<style>{{ style | safe }}</style>"]
    style = (folder / "report.css").read_text()
    assert "<" not in style and "url(" not in style and "@import" not in style


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_a_run_wrote_is_inert_and_can_be_seen(attack: str) -> None:
    hostile = planted(everything(), lambda at, text: text if _is_ours(at) else f"{text} {attack}")
    raw = markup.render(hostile)
    found = Page(raw)
    assert {tag for tag, _ in found.elements} <= {tag for tag, _ in page(everything()).elements}
    assert not found.tags("script") and not found.tags("img")
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    assert all((one["href"] or "").startswith("#") for one in found.tags("a"))
    assert not any(letter in raw.decode() for letter in "\x1b\0‮\udcff")
    seen = {"\x1b[2J\x1b[31mred": "\\x1b[2J", "‮gnp.exe": "\\u202egnp.exe", "nul\0nul": "nul\\x00nul"}
    shown = seen.get(attack, "\\xff\\ud800" if attack == ATTACKS[8] else attack)
    assert found.text.count(shown) > 100, shown


def _is_ours(at: str) -> bool:
    """Say whether a text is a name that our own code looks up; nobody outside can choose it and be read."""
    return at.endswith((".statement.title.", ".facts[].name", ".cites[]", ".vocabulary", ".check"))


def test_right_to_left_text_is_kept_apart_from_what_surrounds_it() -> None:
    row = Row(number=0, stretches=(Stretch(role="user", turn=0, lit=True, tokens=3, text="مرحبا 漢字 👩‍🔬"),))
    found = page(dossier(rows=(row,)))
    assert "مرحبا 漢字 👩‍🔬" in found.text
    assert all(one.get("dir") == "auto" for one in found.tags("bdi"))


def test_long_dark_text_is_folded_and_its_fold_says_how_much_it_hides() -> None:
    dark = Stretch(role="user", turn=0, lit=False, tokens=900, text="x" * 5_000)
    lit = Stretch(role="assistant", turn=1, lit=True, tokens=2, text="y" * 30)
    found = page(dossier(rows=(Row(number=0, stretches=(dark, lit)),)))
    assert "4,760 more characters of 900 tokens" in found.text and "2 of 902 tokens lit" in found.text
    ids = Row(number=0, stretches=(Stretch(role="user", turn=0, lit=True, tokens=2, ids=(17, 18)),))
    assert "17 18" in page(dossier(rows=(ids,))).text


def test_facts_that_ranks_share_are_one_row_with_a_rank_set() -> None:
    held = everything(world=40)
    found = page(held).text
    assert "attention.kernels rank 0-39" in found and found.count("rank 0-39") < 400
    assert "40 processes" in found


def test_a_rank_that_was_not_seen_is_said_first() -> None:
    held = dossier(record(world=4))
    facts = tuple(replace(fact, ranks=fact.ranks and (0,)) for fact in held.statement.case.subject.facts)
    case = held.statement.case.with_record("run", replace(held.statement.case.subject, facts=facts))
    found = page(replace(held, statement=replace(held.statement, case=case))).text
    assert found.index("attached on 1 of 4 ranks: the others were not seen") < found.index(RUN)


def test_what_was_asked_and_never_seen_stands_as_unknown() -> None:
    held = everything()
    found = page(held).text.partition("what somebody asked for")[2].partition("What nobody asked for")[0]
    assert "batch.rows" in found and "attention.configured" in found
    blind = dossier(record(blind=("batch.rows",)))
    found = page(blind).text.partition("what somebody asked for")[2].partition("What nobody asked for")[0]
    assert f"unknown: {Cause.INSTRUMENT_FAILED.value}" in found


def test_a_drawing_marks_the_plan_and_stays_inside_its_frame() -> None:
    rates = Series(tuple(range(1, 101)), tuple(min(x / 10, 1) * 3e-4 for x in range(1, 101)), "rate")
    drawn = curve(rates, [(10, "warm-up ends"), (100, "schedule ends"), (100, "plan ends"), (900, "far")], what="rate")
    assert drawn is not None
    assert [mark.label for mark in drawn.marks] == ["warm-up ends", "plan ends", "schedule ends"]
    assert drawn.beyond == ("far (900)",)
    assert len({(mark.text_row, mark.anchor) for mark in drawn.marks[1:]}) == 2  # two labels at one step do not overlap
    for x, y in (map(float, point.split(",")) for point in drawn.points.split()):
        assert drawn.left <= x <= drawn.right and drawn.top <= y <= drawn.bottom
    assert [tick.label for tick in drawn.across] == ["0", "50", "100"]
    assert drawn.title == "rate: 3e-05 at step 1, at most 0.0003, 0.0003 at step 100"
    assert curve(Series((1,), (float("nan"),), "rate"), [], what="rate") is None
    assert curve(Series((5,), (0.0,), "rate"), [], what="rate") is not None


def test_the_wheel_holds_the_templates() -> None:
    included = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    for name in ("report.html", "parts.html", "report.css"):
        assert f"affidavit/report/page/{name}" in included


def test_a_record_without_a_run_behind_it_has_a_page_too() -> None:
    """What somebody else published has no attempt, no rank that was seen, and no tokens."""
    held = everything()
    bare = replace(held, manifest=replace_struct(held.manifest, attempts=(), launcher=Launcher()), tokens=())
    case = bare.statement.case.with_record("run", replace(bare.statement.case.subject, facts=()))
    found = page(replace(bare, statement=replace(bare.statement, case=case, findings=())))
    assert "no check was owed: nothing was judged, and that is no pass" in found.text
    assert "no training was seen" in found.text and "No row was kept." in found.text and found.open == []
