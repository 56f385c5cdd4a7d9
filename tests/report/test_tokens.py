import json
from dataclasses import replace

import pytest
from rich.cells import cell_len
from tests.report.world import healthy

from affidavit.fact.values import Table
from affidavit.report import document, tokens
from affidavit.report.terminal import draw


def kept(policy: str = "text", **changes: object) -> bytes:
    """Two rows as the tokens instrument keeps them: in the first a user turn is lit by mistake."""
    spans = [
        {"role": "user", "turn": 0, "lit": False, "tokens": 3, "text": "<|turn>user\n", "ids": [4, 9, 10]},
        {"role": "user", "turn": 0, "lit": True, "tokens": 6, "text": "What colour is the sea?<turn|>", "ids": [7] * 6},
        {"role": "user", "turn": 0, "lit": False, "tokens": 1, "text": "\n", "ids": [10]},
        {"role": "assistant", "turn": 1, "lit": True, "tokens": 4, "text": "It is blue.<turn|>", "ids": [8] * 4},
    ]
    if policy == "ids":
        spans = [{key: value for key, value in span.items() if key != "text"} for span in spans]
    head = {"policy": policy, "rows": 2, "roles": {}, **changes}
    lines = [head, {"row": 0, "spans": spans}, {"row": 1, "spans": spans[3:]}]
    return "".join(json.dumps(entry) + "\n" for entry in lines).encode()


def drawn(content: bytes, *, limit: int = 8, colour: bool = False) -> str:
    return draw(tokens.rows(tokens.parse(content), limit=limit), colour=colour)


def test_lit_text_is_marked_without_colour_and_special_tokens_are_seen() -> None:
    page = drawn(kept())
    assert "⟦What colour is the sea?<turn|>⟧⏎" in page
    assert "1 assistant ⟦It is blue.<turn|>⟧" in page
    assert "<|turn>user⏎⟦" in page
    assert "\x1b" not in page


def test_colour_lights_what_is_lit_and_keeps_the_marks() -> None:
    page = drawn(kept(), colour=True)
    lit = page.split("\x1b[1;30;42m⟦")
    assert len(lit) == 5 and lit[2].startswith("What colour")


def test_only_the_asked_rows_are_shown_and_the_rest_is_counted() -> None:
    page = drawn(kept(), limit=1)
    assert "row 0" in page and "row 1" not in page
    assert "1 more rows: --rows 2" in page


def test_without_text_the_ids_are_shown() -> None:
    page = drawn(kept("ids"))
    assert "⟦8 8 8 8⟧" in page and "blue" not in page


def test_tokens_that_were_not_kept_are_said_not_to_be() -> None:
    assert "were not kept" in drawn(json.dumps({"policy": "off", "rows": 0, "roles": {}}).encode())


def test_a_long_dark_stretch_is_folded_and_says_what_it_hides() -> None:
    dark = {"role": "system", "turn": 0, "lit": False, "tokens": 900, "text": "a" * 4000}
    lit = {"role": "assistant", "turn": 1, "lit": True, "tokens": 2, "text": "yes<eos>"}
    content = "\n".join(
        [json.dumps({"policy": "text", "rows": 1}), json.dumps({"row": 0, "spans": [dark, lit]})]
    ).encode()
    page = drawn(content)
    assert "⟦yes<eos>⟧" in page
    assert "3,904 more characters of 900 tokens" in " ".join(page.split())
    assert len(page) < 600


def test_a_decoded_token_cannot_steer_the_terminal() -> None:
    hostile = {"role": "user\x1b[2J", "turn": 0, "lit": True, "tokens": 1, "text": "\x1b]0;owned\x07‮"}
    content = b"\n".join(
        [json.dumps({"policy": "text", "rows": 1}).encode(), json.dumps({"row": 0, "spans": [hostile]}).encode()]
    )
    page = drawn(content)
    assert "\x1b" not in page and "\x07" not in page and "‮" not in page
    assert "\\x1b]0;owned\\x07\\u202e" in page
    assert "\x1b" not in document.encode(document.spans(tokens.parse(content)))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"", "line 1"),
        (b"[]\n", "line 1"),
        (b'{"rows": 1}\n', "policy"),
        (b'{"policy": "text", "rows": 1}\n{"row": 0}\n', "line 2"),
        (b'{"policy": "text", "rows": 1}\n{"row": 0, "spans": [{"role": "user"}]}\n', "line 2"),
        (b'{"policy": "text", "rows": 1}\n{"row": 0, "spans": "all"}\n', "line 2"),
        (b'{"policy": "text", "rows": 1}\n{"row": 0, "spa', "line 2"),
    ],
)
def test_damaged_evidence_gives_one_error_that_names_the_line(content: bytes, names: str) -> None:
    with pytest.raises(tokens.TokensError, match=names):
        tokens.parse(content)


def test_the_headline_counts_by_role_over_all_ranks() -> None:
    page = draw(tokens.headline(healthy(ranks=2)))
    assert page.startswith("2,408 of 6,620 tokens carry the loss; the script asked for: assistant\n")
    assert "  assistant  2,408 of 2,600  ███████████████░  48 of 48 ends of turn\n" in page
    assert "  user           0 of 4,020  ░░░░░░░░░░░░░░░░  0 of 48 ends of turn\n" in page


@pytest.mark.parametrize("ranks", [1, 40])
def test_turns_are_told_apart_only_where_they_are_not_treated_alike(ranks: int) -> None:
    case = healthy(ranks=ranks)
    assert "turn 1" not in draw(tokens.headline(case))
    alike = case.value("tokens.supervised_by_turn")
    assert isinstance(alike, Table)
    rows = (*alike.rows, *((turn, "assistant", 24, 100, 0, 24, 0) for turn in range(3, 23, 2)))
    page = draw(tokens.headline(case.altered("tokens.supervised_by_turn", replace(alike, rows=rows))))
    assert f"{1_204 * ranks:,} of {1_300 * ranks:,}  " in page
    assert "turn 3" in page and "turn 15" in page and "turn 17" not in page
    assert f"and 3 more turns, 0 of {300 * ranks:,} tokens lit" in page
    assert len(page.splitlines()) == 12


def packed(turns: int, *lit: int) -> bytes:
    """One row of many short turns, as packing makes them, of which only a few carry the loss."""
    spans = [
        {
            "role": ("user", "assistant")[turn % 2],
            "turn": turn,
            "lit": turn in lit,
            "tokens": 3,
            "text": f"t{turn}",
        }
        for turn in range(turns)
    ]
    return "\n".join(map(json.dumps, ({"policy": "text", "rows": 1}, {"row": 0, "spans": spans}))).encode()


def test_a_packed_row_is_folded_around_what_is_lit_and_says_what_it_hides() -> None:
    page = drawn(packed(100, 41, 43))
    assert "⟦t41⟧" in page and "⟦t43⟧" in page and "t40" in page and "t44" in page
    assert page.count("tokens lit …]") == 2 and len(page.splitlines()) < 16
    assert "[… 39 stretches, 0 of 117 tokens lit …]" in page
    whole = draw(tokens.rows(tokens.parse(packed(100, 41, 43)), limit=1, full=True))
    assert "tokens lit …]" not in whole and all(f"t{turn}" in whole for turn in range(100))


def test_no_fold_hides_a_single_turn() -> None:
    assert "t1" in drawn(packed(4, 3)) and "tokens lit …]" not in drawn(packed(4, 3))
    assert "t1" not in drawn(packed(5, 4)) and "[… 2 stretches, 0 of 6 tokens lit …]" in drawn(packed(5, 4))


@pytest.mark.parametrize(
    "text",
    [
        "שלום, מה שלומך?",
        "مرحبا بالعالم",
        "漢字かな交じり文" * 12,
        "👩\u200d👩\u200d👧\u200d👦 " * 30,
        "é̂" * 90,
        "नमस्ते दुनिया" * 9,
    ],
    ids=["hebrew", "arabic", "wide", "joined", "combining", "devanagari"],
)
def test_every_script_stays_readable_and_within_the_page(text: str) -> None:
    """The letters stay in the order in which they are stored, and the marks stay around them."""
    spans = [
        {"role": "user", "turn": 0, "lit": False, "tokens": 3, "text": text},
        {"role": "assistant", "turn": 1, "lit": True, "tokens": 3, "text": text + "<eos>"},
    ]
    content = "\n".join(map(json.dumps, ({"policy": "text", "rows": 1}, {"row": 0, "spans": spans}))).encode()
    page = drawn(content)
    joined = "".join(row[13:] for row in page.splitlines())
    assert text.replace(" ", "") in joined.replace(" ", "")
    assert f"⟦{text}<eos>⟧".replace(" ", "") in joined.replace(" ", "")
    assert all(cell_len(row) <= 80 for row in page.splitlines())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_a_terminal_without_unicode_says_the_same(encoding: str) -> None:
    page = draw(tokens.rows(tokens.parse(kept()), limit=8), encoding=encoding)
    page.encode(encoding)
    assert "[[What colour is the sea?<turn|>]]\\n" in page and "[[lit]] carries the loss" in page
    bars = draw(tokens.headline(healthy()), encoding="ascii")
    assert "###############." in bars and "................" in bars


def test_a_census_that_was_not_seen_is_said() -> None:
    case = healthy()
    record = replace(case.subject, facts=())
    assert "was not seen" in draw(tokens.headline(case.with_record("run", record)))
