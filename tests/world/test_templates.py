"""Every chat template that a library ships for training marks its own answers, and none of them is accused."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from server import SCRIPTS

from affidavit.adapters.transformers import offer_tokenizer
from affidavit.case import Case, case_of
from affidavit.check import Verdict, run
from affidavit.checks.supervised_as_requested import supervised_as_requested
from affidavit.fact.values import Table, Tally
from affidavit.instruments.tokens.turns import Place, markers, places

TRL = importlib.util.find_spec("trl")
assert TRL is not None and TRL.origin is not None
TEMPLATES = sorted((Path(TRL.origin).parent / "chat_templates").glob("*_training.jinja"))
TALK = [
    {"role": "user", "content": "What colour is it?"},
    {"role": "assistant", "content": "It is blue."},
    {"role": "user", "content": "Sure?"},
    {"role": "assistant", "content": "Yes, blue."},
]
SPECIAL = re.compile(r"<[|｜][^<>{}%\s]*?[|｜]>|</?think>|<(?:start|end)_of_turn>|<[A-Z_|]+>")
NOT_TEXT = {"llava_next_training.jinja"}
"""Templates that take no plain text."""


@pytest.fixture(scope="module")
def tiny() -> ModuleType:
    """The module of the demo that makes a tokenizer."""
    spec = importlib.util.spec_from_file_location("tiny", SCRIPTS / "tiny.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _case(tiny: ModuleType, template: str, lit_roles: frozenset[str] = frozenset()) -> Case:
    """Return what the census says of one conversation under a template, with more roles lit where asked."""
    tokenizer = tiny.build_tokenizer(template)
    tokenizer.add_special_tokens({"extra_special_tokens": sorted(set(SPECIAL.findall(template)))})
    said = tokenizer.apply_chat_template(TALK, tokenize=True, return_dict=True, return_assistant_tokens_mask=True)
    held = offer_tokenizer(tokenizer)
    assert held is not None
    found = places(held.pieces(said["input_ids"]), markers(held))
    mask = [bool(flag) or place.role in lit_roles for flag, place in zip(said["assistant_masks"], found)]
    return case_of(
        run={
            "tokens.labels": "each token",
            "tokens.supervision_requested": "assistant",
            "tokens.seen_by_role": Tally.count("tokens", Counter(place.role for place in found)),
            "tokens.supervised_by_role": _lit(found, mask),
            "tokens.supervised_by_turn": _turns(found, mask),
        }
    )


def _lit(found: list[Place], mask: list[bool]) -> Tally:
    counts = Counter(place.role for place in found)
    return Tally.count("tokens", {role: sum(m and p.role == role for p, m in zip(found, mask)) for role in counts})


def _turns(found: list[Place], mask: list[bool]) -> Table:
    rows = []
    for turn in sorted({place.turn for place in found if place.turn >= 0}):
        own = [(place, is_lit) for place, is_lit in zip(found, mask) if place.turn == turn]
        ends = sum(place.ends and is_lit for place, is_lit in own)
        closed = int(any(place.ends for place, _ in own))
        rows.append((turn, own[0][0].role, 1, len(own), sum(is_lit for _, is_lit in own), closed, ends))
    return Table(("turn", "role", "turns", "tokens", "supervised", "closed", "ends"), tuple(rows))


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 10


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path.name not in NOT_TEXT], ids=lambda path: path.stem)
def test_a_librarys_own_template_is_not_accused(tiny: ModuleType, path: Path) -> None:
    finding = run(supervised_as_requested, _case(tiny, path.read_text()))
    assert finding.verdict is Verdict.PASS, finding.message


def test_a_users_words_under_such_a_template_are(tiny: ModuleType) -> None:
    (path,) = [path for path in TEMPLATES if path.stem == "qwen3_training"]
    finding = run(supervised_as_requested, _case(tiny, path.read_text(), frozenset({"user"})))
    assert finding.verdict is Verdict.FAIL and "user tokens" in finding.message
