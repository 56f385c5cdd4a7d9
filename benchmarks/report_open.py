"""How long the report of a large run takes: ours to render it, Chromium's to load it and lay it out.

python benchmarks/report_open.py [ROUNDS]

The run has 64 ranks that say different things wherever they may, and a manifest of just under the most that it may
have. Opened is: the navigation is over, every style and size is computed, and a frame has been drawn.
"""

from __future__ import annotations

import datetime
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from measuring import median, write
from playwright.sync_api import sync_playwright

from affidavit import checks
from affidavit.case import SUBJECT, Case
from affidavit.check import Check, judge
from affidavit.check.load import load as load_checks
from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Ranks, Scope
from affidavit.fact.values import Digest, Layers, Series, Tally, Value
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.gate import decide
from affidavit.record import manifest
from affidavit.record.ledger import Ledger
from affidavit.record.manifest import Attempt, Manifest, Process, Status, from_record
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.report.page import markup
from affidavit.report.page.dossier import Dossier, Kept
from affidavit.report.page.share import shared
from affidavit.report.statement import Statement
from affidavit.report.tokens import Row, Spans, Stretch

WORLD = 64
NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
OPENED = """() => new Promise((done) => {
  document.scrollingElement.getBoundingClientRect();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() / 1000)));
})"""
"""Seconds since the navigation began, two frames after the page was laid out."""


def main(rounds: int = 15) -> int:
    dossier, size = largest()
    began = time.process_time()
    page = markup.render(dossier)
    first = time.process_time() - began
    rendered = [_seconds(lambda: markup.render(dossier)) for _ in range(3)]
    copied = [_seconds(lambda: markup.render(shared(dossier))) for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_bytes(page)
        folded, unfolded = _opened(path, rounds)
    return write(
        "report_open",
        promised={"open_seconds": 1.0},
        found={
            "open_seconds": median(folded),
            "all_unfolded_seconds": median(unfolded),
            "render_cpu_seconds": median(rendered),
            "first_render_cpu_seconds": first,
            "share_cpu_seconds": median(copied),
            "manifest_bytes": size,
            "page_bytes": len(page),
        },
        raw={"open": folded, "all_unfolded": unfolded, "render": rendered, "share": copied, "facts": _count(dossier)},
    )


def _seconds(work: object) -> float:
    assert callable(work)
    began = time.process_time()
    work()
    return time.process_time() - began


def _count(dossier: Dossier) -> int:
    return len(dossier.statement.case.subject.facts)


def _opened(path: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Return how long the page took to open, as it is and with everything unfolded after that."""
    folded, unfolded = [], []
    with sync_playwright() as playwright:
        quiet = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*quiet, "--disable-component-update", "--disable-sync"]
        )
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(path.as_uri())
            folded.append(page.evaluate(OPENED))
            began = time.monotonic()
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            page.evaluate(OPENED)
            unfolded.append(time.monotonic() - began)
            page.close()
        browser.close()
    return folded, unfolded


def largest() -> tuple[Dossier, int]:
    """Return a dossier whose manifest has as many modules and ranks as fit in the bytes that it may have."""
    modules = 64
    found = _dossier(modules)
    while True:
        modules = modules * 5 // 4
        larger = _dossier(modules)
        try:
            size = len(manifest.encode(larger.manifest))
        except manifest.ManifestError:
            return found, len(manifest.encode(found.manifest))
        found = larger
        assert size < manifest.SIZE_BYTES


def _dossier(modules: int) -> Dossier:
    words = load_vocabulary()
    held = load_checks(checks, words)
    facts: list[Fact] = []
    for name, value in _values(held, modules).items():
        term = words[name]
        known = Known(value, max(term.least, Method.DECLARED), f"reading of {name} in step 2")
        if term.scope is not Scope.RANK:
            facts.append(Fact(name=name, state=known))
        elif term.ranks is Ranks.FREE:
            facts += [
                Fact(name=name, state=replace(known, value=_of_rank(value, rank)), ranks=(rank,))
                for rank in range(WORLD)
            ]
        else:
            facts.append(Fact(name=name, state=known, request=known, ranks=tuple(range(WORLD))))
    record = Record(
        kind=Kind.RUN, subject="20260101T120000Z-3f9a1c", facts=ordered(facts), vocabulary=words, world=WORLD
    )
    today = NOON.date()
    case = Case(records={SUBJECT: record}, as_of=today)
    findings = judge(held, case)
    sealed = _manifest(record)
    return Dossier(
        statement=Statement(
            title=record.subject,
            status="FINISHED, step 1,000",
            case=case,
            checks=held,
            findings=findings,
            decision=decide(findings, (), as_of=today),
            ledger=Ledger(),
        ),
        manifest=sealed,
        digest=str(Digest("sha256", "ab" * 32)),
        tokens=(Kept(rank=0, episode=0, spans=_spans()),),
    )


def _values(held: tuple[Check, ...], modules: int) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for check in held:
        assert check.example is not None
        for fact in check.example().subject.facts:
            if isinstance(fact.state, Known):
                found.setdefault(fact.name, fact.state.value)
    layers = tuple((f"model.layers.{layer}.experts.{layer % 7}.up_proj", "trains, at rest") for layer in range(modules))
    found["weights.exceptions"] = Layers(layers[: modules // 8])
    found["adapter.settings"] = Layers(layers)
    found["schedule.rates"] = Series(
        tuple(range(1, 65)), tuple(step / 64_000 for step in range(1, 65)), "learning rate"
    )
    return found


def _of_rank(value: Value, rank: int) -> Value:
    if isinstance(value, Tally):
        return value.plus("on this rank", rank)
    if isinstance(value, Layers):
        return Layers((*value.runs, (f"model.layers.{rank}.mlp", "trains, at rest")))
    return value + rank if isinstance(value, int | float) and not isinstance(value, bool) else value


def _manifest(record: Record) -> Manifest:
    processes = tuple(
        Process(identity=f"node{rank // 8}-{rank}-1", host=f"node{rank // 8}", pid=rank + 1, rank=rank, world=WORLD)
        for rank in range(WORLD)
    )
    attempt = Attempt(
        number=0,
        command=("torchrun", "--nproc-per-node", "8", "train.py"),
        started=NOON,
        ended=NOON,
        status=Status.FINISHED,
        exit_code=0,
        processes=processes,
    )
    return from_record(record, affidavit="0.1.0", status=Status.FINISHED, attempts=(attempt,))


def _spans() -> Spans:
    text = "Is the road near the forest wide, and who walks on it in the morning? " * 8
    row = tuple(
        Stretch(role=("user", "assistant")[turn % 2], turn=turn, lit=turn % 2 == 1, tokens=128, text=text)
        for turn in range(16)
    )
    return Spans(policy="text", rows=tuple(Row(number=number, stretches=row) for number in range(8)))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
