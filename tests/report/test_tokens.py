import json
from dataclasses import replace

import pytest
from tests.report.world import healthy

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
    assert len(lit) == 4 and lit[1].startswith("What colour")


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
    assert page.startswith("2,408 of 6,620 tokens carry the loss; asked to train on: assistant\n")
    assert "0 of 4,020 tokens of user turns are lit" in page
    assert "turn 1 assistant: 1204 of 1300 tokens lit, 24 of 24 ends of turn, rank 0-1" in page


def test_a_census_that_was_not_seen_is_said() -> None:
    case = healthy()
    record = replace(case.subject, facts=())
    assert "was not seen" in draw(tokens.headline(case.with_record("run", record)))
