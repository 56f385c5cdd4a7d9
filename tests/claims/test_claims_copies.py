"""Old values where they still stand: found by dimension, rounding and words, ranked, and nothing else told."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

import pytest

from affidavit.claims.copies import Copy, copies, formers, loose, standing
from affidavit.claims.copies.sieve import Sieve
from affidavit.claims.copies.words import stems
from affidavit.claims.quantity import quantities
from affidavit.claims.sheet import below
from affidavit.record.measurement import FILE, Measurement, Measurements, Supersession

DAY = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
NEXT = DAY + datetime.timedelta(days=1)
LATER = NEXT + datetime.timedelta(days=1)


def measured(name: str, value: float, unit: str, date: datetime.datetime = DAY, **rest: str) -> Measurement:
    return Measurement(name=name, value=value, unit=unit, date=date, note=rest.get("note", ""))


KNOWN = Measurements(
    measured=(measured("encode-cache-rebuild", 4.3, "h"), measured("encode-cache-rebuild", 145.5, "s", NEXT))
)
SAID = "It takes {} to rebuild the encode cache.\n"


def found_in(tmp_path: Path, text: str, name: str = "page.md", known: Measurements = KNOWN) -> list[str]:
    """Return what is found in a file, as it is written there."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [_written(one) for one in copies(formers(known), [path])]


def _written(copy: Copy) -> str:
    text = copy.path.read_bytes().decode("utf-8", "surrogateescape")
    written = text[copy.found.start : copy.found.end]
    assert written == copy.found.written
    assert text.count("\n", 0, copy.found.start) + 1 == copy.line
    return written


@pytest.mark.parametrize("written", ["4.3 h", "4.3 HOURS", "~258 min", "15,480 s", "4h18m", "4:18 h", "4.3-hour"])
def test_an_old_value_is_found_however_it_is_written(tmp_path: Path, written: str) -> None:
    assert found_in(tmp_path, SAID.format(written)) == [written.removeprefix("~")]


@pytest.mark.parametrize(
    "text",
    [
        SAID.format("145.5 s"),
        SAID.format("4.4 h"),
        SAID.format("4.3 GB"),
        SAID.format("a while, see §4.3 and v4.3"),
        "The evaluation of all checkpoints takes 4.3 h.\n",
        "Lunch is 4.3 h.\n",
        "",
    ],
    ids=["the new value", "another value", "another dimension", "no quantity", "of something else", "lunch", "nothing"],
)
def test_what_is_no_copy_is_not_told(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, text) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("launch.sh", "#!/bin/sh\n# the encode cache: never rebuild it,\n# that is 4.3h\nexec python train.py\n"),
        ("conf.yaml", "data:\n  encode_cache: /scratch/rebuild  # 4.3h\n"),
        ("train.py", "def rebuild_encode_cache():\n    pass\n    # takes 4.3h\n    return 1\n"),
        ("sizing.md", "## Encode cache\n\nA rebuild: 4.3h, so plan for it.\n"),
        ("cache/rebuild_encode.txt", "4.3h on the head node\n"),
        ("table.md", "| part | encode cache, rebuild |\n| --- | --- |\n| a | 1 s |\n| all | 4.3h |\n"),
        ("note.tex", "Rebuilding the EncodeCache: 4.3h\n"),
    ],
)
def test_words_count_in_comments_headings_names_and_tables(tmp_path: Path, name: str, text: str) -> None:
    assert found_in(tmp_path, text, name) == ["4.3h"]


@pytest.mark.parametrize(("written", "is_copy"), [("0.7 s", True), ("694 ms", True), ("0.69 s", True), ("1 s", False)])
def test_a_rounding_more_than_a_quarter_away_is_no_copy(tmp_path: Path, written: str, is_copy: bool) -> None:
    known = Measurements(measured=(measured("report-open", 0.694, "s"), measured("report-open", 0.436, "s", NEXT)))
    assert found_in(tmp_path, f"The report opens in {written}.\n", known=known) == [written] * is_copy


def test_a_limit_beside_the_claim_itself_is_no_copy(tmp_path: Path) -> None:
    known = Measurements(measured=(measured("lint-cost", 2.75, "s"), measured("lint-cost", 2.1, "s", NEXT)))
    row = "| cost of lint | {} | [2.1 s](claim:{}) |\n"
    assert found_in(tmp_path, row.format("3 s", "lint-cost"), known=known) == []
    assert found_in(tmp_path, row.format("3 s", "lint-cost-cold"), known=known) == ["3 s"]
    assert found_in(tmp_path, row.format("2.75 s", "lint-cost"), known=known) == ["2.75 s"]


def test_the_row_of_another_thing_is_no_copy(tmp_path: Path) -> None:
    rows = "| part | time |\n| --- | --- |\n| rebuild of the encode cache | 2 min |\n| evaluation | 4.3 h |\n"
    assert found_in(tmp_path, rows) == []


@pytest.mark.parametrize(
    "text",
    [
        "~~Rebuilding the encode cache takes 4.3 h.~~\n",
        "Superseded: the encode cache was said to take 4.3 h to rebuild.\n",
        "The rebuild of the encode cache is 145.5 s, not 4.3 h.\n",
        "<!-- affidavit:superseded -->\n| encode cache rebuild | 4.3 h |\n<!-- /affidavit:superseded -->\n",
    ],
    ids=["struck", "superseded", "beside the right one", "generated"],
)
def test_a_line_that_says_it_is_old_is_let_be(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, text) == []


def test_a_number_that_carries_the_id_is_held_against_its_measurement_elsewhere(tmp_path: Path) -> None:
    text = "The encode cache: [4.3 h](claim:encode-cache-rebuild) to rebuild, so a rebuild is 15,480 s.\n"
    assert found_in(tmp_path, text) == ["15,480 s"]


def test_every_old_value_is_looked_for_for_ever(tmp_path: Path) -> None:
    third = measured("encode-cache-rebuild", 90.0, "s", LATER)
    known = Measurements(measured=(*KNOWN.measured, third))
    assert sorted(found_in(tmp_path, SAID.format("4.3 h") + SAID.format("145.5 s"), known=known)) == [
        "145.5 s",
        "4.3 h",
    ]


def test_a_claim_that_was_taken_back_without_a_successor_is_looked_for(tmp_path: Path) -> None:
    share = measured("attention-kernel-share", 68.0, "%")
    taken_back = Supersession(claims=("attention-kernel-share",), why="of the serving seat", date=NEXT)
    known = Measurements(measured=(share,), supersessions=(taken_back,))
    assert found_in(tmp_path, "The attention kernel has a share of 68 percent.\n", known=known) == ["68 percent"]
    assert standing(known) == ()


def test_a_value_that_is_right_again_is_no_old_one() -> None:
    again = measured("encode-cache-rebuild", 15480, "s", LATER)
    assert [one.value.value for one in formers(Measurements(measured=(*KNOWN.measured, again)))] == [145.5]


def test_words_at_the_anchors_help_a_claim_of_few_words(tmp_path: Path) -> None:
    known = Measurements(measured=(measured("warmup", 54, "s"), measured("warmup", 170, "s", NEXT)))
    path = tmp_path / "run.sh"
    path.write_text("# inductor graphs: warmup is 54 s\n")
    assert copies(formers(known), [path]) == ()
    (found,) = copies(formers(known, {"warmup": ["the warmup of inductor, for all its graphs"]}), [path])
    assert "inductor" in " ".join(found.reasons)


def test_the_surest_stands_first_and_says_why(tmp_path: Path) -> None:
    far, near = tmp_path / "a.md", tmp_path / "b.md"
    far.write_text("# Notes\n\nThe encode job: 258 minutes\nwith its cache.\n")
    near.write_text(SAID.format("4.3 h"))
    first, second = copies(formers(KNOWN), [far, near])
    assert (first.path, second.path) == (near, far)
    assert first.reasons == ("4.3 h is 4.3 h", "beside encode, rebuild, cache")


def test_of_two_claims_the_likelier_is_named(tmp_path: Path) -> None:
    other = (measured("index-cache-rebuild", 4.3, "h"), measured("index-cache-rebuild", 9.0, "h", NEXT))
    known = Measurements(measured=(*KNOWN.measured, *other))
    path = tmp_path / "a.md"
    path.write_text(SAID.format("4.3 h"))
    assert [one.told.claim for one in copies(formers(known), [path])] == ["encode-cache-rebuild"]


@pytest.mark.parametrize(
    ("name", "size"),
    [(FILE, 0), ("uv.lock", 0), ("CHANGELOG.md", 0), ("HISTORY.rst", 0), ("rows.csv", 1 << 17), ("page.md", 3 << 20)],
)
def test_what_says_what_was_and_what_is_data_is_not_looked_at(tmp_path: Path, name: str, size: int) -> None:
    assert found_in(tmp_path, SAID.format("4.3 h") + "x\n" * (size // 2), name) == []


@pytest.mark.parametrize("name", ["history.py", "changes.sh", "news.yaml", "changelog/8.fixed.rebuild.md"])
def test_what_is_named_as_a_history_and_is_none_is_looked_at(tmp_path: Path, name: str) -> None:
    assert found_in(tmp_path, "# " + SAID.format("4.3 h"), name) == ["4.3 h"]


def test_odd_bytes_are_text_or_nothing(tmp_path: Path) -> None:
    odd, binary = tmp_path / "odd.md", tmp_path / "binary.md"
    odd.write_bytes(b"\xff\xfe caf\xe9\r\n" + SAID.format("4.3 h").encode() + b"\x00")
    binary.write_bytes(b"\x00" + SAID.format("4.3 h").encode())
    pipe, folder, gone = tmp_path / "pipe", tmp_path / "folder", tmp_path / "gone"
    subprocess.run(["mkfifo", pipe], check=True)
    folder.mkdir()
    odd.write_bytes(odd.read_bytes().replace(b"\x00", b""))
    assert [_written(one) for one in copies(formers(KNOWN), [odd, binary, pipe, folder, gone])] == ["4.3 h"]


def test_a_line_of_a_megabyte_is_looked_at_where_its_numbers_are(tmp_path: Path) -> None:
    text = "x" * 500_000 + " rebuild of the encode cache 4.3 h " + "y" * 500_000
    assert found_in(tmp_path, text, "page.txt") == ["4.3 h"]


def test_untracked_and_staged_files_are_looked_at_and_ignored_ones_are_not(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in ("tracked.md", "staged.md", "new.sh", "ignored.md"):
        (tmp_path / name).write_text(SAID.format("4.3 h"))
    (tmp_path / ".gitignore").write_text("ignored.md\n")
    subprocess.run(["git", "-C", tmp_path, "add", "tracked.md", "staged.md"], check=True)
    assert {one.path.name for one in copies(formers(KNOWN), below(tmp_path))} == {"tracked.md", "staged.md", "new.sh"}


def test_a_loose_number_of_a_claim_is_told_in_what_is_run(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(
        "# rebuilding the encode cache: 146 s\n"
        "# rebuild of the encode cache: 145.5 s, claim: encode-cache-rebuild\n"
        "echo rebuild the encode cache in 140 s\n\n"
        "# the encode cache is 12 GB\n\n"
        "# evaluation: 30 s\n"
    )
    (found,) = loose(standing(KNOWN), [path])
    assert (_written(found), found.told.claim) == ("146 s", "encode-cache-rebuild")


@pytest.mark.parametrize(
    "text",
    [
        "4.3 h",
        "1h12m",
        "2m25.5s",
        "4-5 h",
        "68%",
        "68 per cent",
        "3.2k tok/s",
        "2 million tokens",
        "45 t/s",
        "2.3 it/s",
        "12 shard files",
        "$140",
        "$ 140",
        "20 EUR",
        "€20",
        "1.5×10^15 FLOPs",
        "150 tflops",
        "4\xa0h",
        "5 GiB",
        "7 pp",
    ],
)
def test_the_sieve_lets_through_all_that_the_reader_reads(text: str) -> None:
    read = quantities(text)
    assert read
    for one in read:
        assert [*Sieve({one.dimension}).lines_of(f"a\n{text}\nb".encode())] == [(2, 2 + len(text.encode()))]


def test_words_are_one_by_their_stems() -> None:
    same = (("cache", "cached", "caching"), ("encode", "encoder", "encoding"), ("rebuild", "rebuilt", "rebuilding"))
    for words in (
        *same,
        ("tokenizer", "tokenize", "tokenization"),
        ("optimizer", "optimiser"),
        ("loss",),
        ("process",),
    ):
        assert len({stem for word in words for stem in stems(word)}) == 1, words
    assert [*stems("the use of 3 hours")] == []
    assert {*stems("rebuildEncode_cache")} == {"rebuild", "encod", "cach"}
