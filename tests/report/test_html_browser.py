"""The page in a real browser: what is seen at once, that nothing is loaded or run, and that paper holds it too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.report import browser as browsers
from tests.report.dossiers import RUN, dossier, everything, planted

from affidavit.report.page import markup
from affidavit.report.page.dossier import Dossier
from affidavit.report.page.share import shared
from affidavit.report.tokens import Row, Stretch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 375, "height": 667}
SIZES = pytest.mark.parametrize("size", [DESK, PHONE], ids=["1280", "375"])
WRITTEN = (".source", ".text", ".reason")
POLICY = re.compile('<meta http-equiv="Content-Security-Policy"[^>]*>')
LEAST_CONTRAST = 4.5
CONTRASTS = """() => {
  const parse = (colour) => {
    const [r, g, b, a] = colour.match(/[\\d.]+/g).map(Number);
    return {r, g, b, a: a === undefined ? 1 : a};
  };
  const light = ({r, g, b}) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a > 0) return colour;
    }
    return {r: 255, g: 255, b: 255, a: 1};
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ['STYLE', 'TITLE', 'DESC', 'title', 'desc'].includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const colour = parse(node instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(colour), light(behind(node))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), walker.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
}"""

pytestmark = pytest.mark.skipif(browsers.found() is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every page."""
    held = tmp_path_factory.mktemp("pages")
    for name, one in pages().items():
        (held / f"{name}.html").write_bytes(markup.render(one))
    return held


def pages() -> dict[str, Dossier]:
    """Return what is opened: a failing run, a clean one, a corrected one, a shared copy, many ranks, a hostile run."""
    (correction,) = everything().statement.annotations
    fallen = tuple(fact.name for fact in everything().statement.case.subject.facts if fact.name.startswith("tokens."))
    later = replace(correction, falls=fallen, not_reviewed=tuple(f"{name}.*" for name in ("batch", "code") * 9))
    said = (correction, correction, later)
    corrected = dataclass_replace(everything().statement, annotations=said)
    attack = "\"><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script></style>"
    long = Stretch(role="user", turn=0, lit=False, tokens=900, text="unbroken" * 600)
    lit = Stretch(role="assistant", turn=1, lit=True, tokens=9, text="مرحبا " * 40)
    return {
        "failing": everything(),
        "clean": dossier(rows=(Row(number=0, stretches=(long, lit)),)),
        "corrected": dataclass_replace(everything(), statement=corrected),
        "shared": shared(everything()),
        "ranks": everything(world=64),
        "hostile": planted(
            everything(), lambda at, text: f"{text} {attack}" if at.endswith((".source", ".text", ".reason")) else text
        ),
    }


@pytest.fixture
def opened(browser: Browser, folder: Path) -> Iterator[Page]:
    """A page of the browser in which no console error and no request beyond the file itself may happen."""
    page = browser.new_page(viewport=DESK)  # type: ignore[arg-type]
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    page.close()
    assert not wrong
    assert {url.partition("#")[0] for url in asked} <= {f"{folder.as_uri()}/{name.name}" for name in folder.iterdir()}


def at(page: Page, folder: Path, name: str, size: dict[str, int] = DESK) -> Page:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.goto(f"{folder.as_uri()}/{name}.html")
    return page


@SIZES
@pytest.mark.parametrize("name", ["failing", "clean", "shared", "ranks", "hostile"])
def test_nothing_is_wider_than_the_window(opened: Page, folder: Path, name: str, size: dict[str, int]) -> None:
    page = at(opened, folder, name, size)
    for is_open in (False, True):
        page.evaluate("(open) => document.querySelectorAll('details').forEach((one) => { one.open = open; })", is_open)
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), is_open


@SIZES
@pytest.mark.parametrize("name", ["failing", "corrected"])
def test_the_first_failure_is_seen_without_scrolling(
    opened: Page, folder: Path, name: str, size: dict[str, int]
) -> None:
    page = at(opened, folder, name, size)
    seen = page.locator(".worst")
    assert "FAIL attention-consistent saw 48 eager" in " ".join(seen.inner_text().split())
    box = seen.bounding_box()
    assert box is not None and box["y"] + box["height"] <= size["height"]
    seen.locator("a").click()
    target = page.locator(":target").bounding_box()
    assert target is not None and 0 <= target["y"] < size["height"]


@SIZES
def test_what_a_reader_must_know_is_visible_at_any_width(opened: Page, folder: Path, size: dict[str, int]) -> None:
    page = at(opened, folder, "failing", size)
    text = " ".join(page.locator("body").inner_text().split())
    for said in (
        RUN,
        "FINISHED, step 12",
        "what ran is what was asked",
        "erratum #1",
        "⟦No, it is dry.<eos>⟧",
        "batch.rows",
    ):
        assert said in text, said
    assert page.locator(".lines li").count() == 7
    assert "determinism.seed" not in text  # all facts are folded
    page.locator("details.group summary", has_text="determinism").click()
    assert "determinism.seed" in page.locator("body").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(opened: Page, folder: Path, scheme: str) -> None:
    opened.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page = at(opened, folder, "failing")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = page.evaluate(CONTRASTS)
    assert len(found) > 500
    assert [pair for pair in found if pair[0] < LEAST_CONTRAST] == []
    assert (int(re.findall(r"\d+", ground)[0]) > 127) is (scheme == "light")


def test_the_policy_stops_a_script_that_somebody_puts_in(browser: Browser, folder: Path, tmp_path: Path) -> None:
    """The same file runs it without the policy, so it is the policy that stopped it."""
    there = "http://elsewhere.invalid"
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    loads = (
        f"<script>document.title = 'owned'</script><script src='{there}/s.js'></script><img src='{there}/i.png'>"
        f"<iframe src='{there}/f'></iframe><style>body {{ background: url({there}/b.png) }}</style>"
        f"<p style='background: url({there}/p.png)' onclick=\"document.title='owned'\">x</p></body>"
    )
    whole = (folder / "failing.html").read_text().replace("</body>", loads)
    bare = POLICY.sub("", whole)
    assert bare != whole
    for name, text in {"guarded": whole, "bare": bare}.items():
        (tmp_path / f"{name}.html").write_text(text)
        page = browser.new_page()
        asked.clear()
        page.route(f"{there}/**", refuse)
        page.goto((tmp_path / f"{name}.html").as_uri())
        page.locator("p", has_text="x").last.click()
        assert (page.title() == "owned") is (name == "bare")
        assert len(asked) == (5 if name == "bare" else 0)
        page.close()


def test_what_a_hostile_run_wrote_runs_nothing_even_without_the_policy(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    text = (folder / "hostile.html").read_text()
    assert text.count("owned") > 100
    (tmp_path / "bare.html").write_text(POLICY.sub("", text))
    page = browser.new_page()
    page.goto((tmp_path / "bare.html").as_uri())
    assert page.title() != "owned" and page.locator("script, img").count() == 0
    page.close()


def test_paper_holds_what_is_folded_and_the_lit_marks(opened: Page, folder: Path) -> None:
    opened.emulate_media(color_scheme="dark")
    page = at(opened, folder, "failing")
    printed = browsers.text_of(page.pdf())
    assert "⟦No, it is dry.<eos>⟧" in printed
    assert "attention-as-requested" in printed and "determinism.seed" in printed
    page.emulate_media(media="print", color_scheme="dark")
    mark = page.locator("dl.turns mark").first
    style = mark.evaluate(
        "(one) => { const s = getComputedStyle(one); return [s.color, s.borderBottomStyle, s.fontWeight]; }"
    )
    assert style == ["rgb(0, 0, 0)", "solid", "700"]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_keyboard_reaches_what_is_folded(opened: Page, folder: Path) -> None:
    page = at(opened, folder, "clean")
    fold = page.locator("details.fold").first
    assert not fold.evaluate("(one) => one.open")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.parentElement.className") == "fold":
            break
    page.keyboard.press("Enter")
    assert fold.evaluate("(one) => one.open")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_reader_of_the_accessibility_tree_finds_landmarks_and_names(opened: Page, folder: Path) -> None:
    page = at(opened, folder, "failing")
    for role in ("banner", "main", "navigation", "contentinfo"):
        assert page.get_by_role(role).count() == 1, role  # type: ignore[arg-type]
    assert page.get_by_role("heading", level=1).inner_text() == RUN
    assert page.get_by_role("img", name=re.compile("learning rate of each step: .* at step 1")).count() == 1
    assert page.get_by_role("article", name=re.compile("FAIL attention-consistent")).count() == 1
    assert page.get_by_role("region", name="Lit tokens").count() == 1
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.get_by_role("rowheader", name=re.compile("batch.rows")).count() >= 1
