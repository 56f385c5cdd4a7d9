"""Who said which token, in the templates that people train with, whole and cut off, in any letters."""

from __future__ import annotations

import pytest
from chat_templates import MERGED_SYSTEM, NO_END, NO_SYSTEM, TEMPLATES, ChatTokenizer, roles_by_letter

from affidavit.instruments.tokens.turns import TEMPLATE, TEXT, Place, markers, places

TALK = (
    ("user", "What colour is the sea near the harbour?"),
    ("assistant", "It is blue."),
    ("user", "Are you sure of that?"),
    ("assistant", "Yes: it is blue,\nand it was blue yesterday.\n\nQuite blue."),
    ("user", "ok"),
    ("assistant", "Good."),
)
LETTERS = (
    ("user", "¿Dónde está 東京? 🗼👩‍👩‍👧"),
    ("assistant", "日本です。🇯🇵\n\n\t- ñandú\n- Ωμέγα\u200b"),
    ("user", "  spaces before"),
    ("assistant", "1\n\n\n2"),
)


def _read(tokenizer: ChatTokenizer, text: str) -> tuple[list[str], list[Place]]:
    pieces = tokenizer.split(text)
    return pieces, places(pieces, markers(tokenizer))


def _closes(tokenizer: ChatTokenizer, piece: str) -> bool:
    """Say whether a piece belongs to what stands behind a message, which counts to its turn."""
    closing = {marker.closes for marker in markers(tokenizer)}
    return any(piece.strip() in "".join(mark.split()) for mark in closing)


def _contents_have_their_roles(tokenizer: ChatTokenizer, messages: tuple[tuple[str, str], ...]) -> None:
    text = tokenizer.render(messages)
    assert text is not None
    truth = roles_by_letter(text, messages)
    pieces, found = _read(tokenizer, text)
    at = 0
    turns: dict[int, set[int]] = {}
    for piece, place in zip(pieces, found, strict=True):
        said_by = set(truth[at : at + len(piece)])
        at += len(piece)
        if len(said_by) > 1 or not piece.strip():
            continue  # it crosses a border, or is white space between two
        ((role, message),) = said_by
        if role:
            assert place.role == role, (piece, place, text)
            turns.setdefault(message, set()).add(place.turn)
        else:
            assert place.role in (TEMPLATE, "system") or _closes(tokenizer, piece), (piece, place, text)
    whole = {place for place, (_, content) in enumerate(messages) if len(content) >= 2 * tokenizer.size}
    assert whole <= set(turns) and whole
    assert all(len(numbers) == 1 for numbers in turns.values())
    numbers = [turns[message].pop() for message in sorted(turns)]
    assert numbers == sorted(set(numbers)), "turns rise"


@pytest.mark.parametrize("lines", [True, False], ids=["lines apart", "across lines"])
@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("template", TEMPLATES)
def test_every_word_has_its_role(template: str, size: int, lines: bool) -> None:
    _contents_have_their_roles(ChatTokenizer(template, size=size, lines=lines), TALK)


@pytest.mark.parametrize("template", TEMPLATES)
def test_letters_of_every_kind(template: str) -> None:
    _contents_have_their_roles(ChatTokenizer(template), LETTERS)


@pytest.mark.parametrize("template", [name for name in TEMPLATES if name not in (*NO_SYSTEM, *MERGED_SYSTEM)])
def test_a_system_message_is_the_systems(template: str) -> None:
    _contents_have_their_roles(ChatTokenizer(template), (("system", "Answer in one word."), *TALK))


@pytest.mark.parametrize("template", MERGED_SYSTEM)
def test_a_system_message_without_a_heading_changes_nobody_elses_role(template: str) -> None:
    tokenizer = ChatTokenizer(template)
    text = tokenizer.render([("system", "Answer in one word."), *TALK])
    assert text is not None
    pieces, found = _read(tokenizer, text)
    said = {
        role: "".join(p for p, place in zip(pieces, found, strict=True) if place.role == role)
        for role in ("user", "assistant")
    }
    assert "Are you sure of that?" in said["user"]
    assert "Good." in said["assistant"] and "sure" not in said["assistant"] and "one word" not in said["assistant"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_each_turn_has_its_end(template: str) -> None:
    tokenizer = ChatTokenizer(template)
    text = tokenizer.render(TALK)
    assert text is not None
    _, found = _read(tokenizer, text)
    ends = [place.role for place in found if place.ends]
    expected = [role for role, _ in TALK if template not in NO_END.get(role, ())]
    assert [role for role in ends if role != "system"] == expected


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_row_that_was_cut_at_its_end_has_an_open_turn(template: str) -> None:
    tokenizer = ChatTokenizer(template)
    text = tokenizer.render(TALK)
    assert text is not None
    cut = text[: text.index("and it was blue")]
    _, found = _read(tokenizer, cut)
    assert found[-1].role == "assistant" and not found[-1].ends
    ends = [place.role for place in found if place.ends and place.role == "assistant"]
    assert ends == ["assistant"], "the first answer is whole, the second is not"


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_row_that_was_cut_at_its_beginning_guesses_nothing(template: str) -> None:
    """What stands before the first heading may be anybody's."""
    tokenizer = ChatTokenizer(template)
    text = tokenizer.render(TALK)
    assert text is not None
    cut = text[text.index("colour is the sea") :]
    pieces, found = _read(tokenizer, cut)
    answer = cut.index("It is blue")
    starts = [sum(map(len, pieces[:place])) for place in range(len(pieces))]
    first = next(place for place, start in enumerate(starts) if start >= answer)
    question = [place.role for place, start in zip(found, starts, strict=True) if start < cut.index("?")]
    assert set(question) == {TEMPLATE}
    assert found[first].role == "assistant"
    assert sum(place.ends for place in found if place.role == "assistant") == 3


def test_without_a_template_all_is_text() -> None:
    assert places(["a", "b"], ()) == [Place(TEXT, 0), Place(TEXT, 0)]
    assert places([], markers(ChatTokenizer("chatml"))) == []


def test_a_text_without_headings_is_text_also_where_there_is_a_template() -> None:
    known = markers(ChatTokenizer("chatml"))
    assert {place.role for place in places(["once ", "upon ", "a time"], known)} == {TEXT}


def test_content_that_speaks_of_roles_opens_no_turn() -> None:
    """The words of a heading are no heading without its marks."""
    talk = (("user", "assistant\nuser\nsay im_end and im_start"), ("assistant", "user"))
    for template in ("chatml", "llama 3", "gemma 4", "zephyr"):
        _contents_have_their_roles(ChatTokenizer(template), talk)


def test_bytes_that_are_no_letters_yet_keep_their_places() -> None:
    """A letter that is split over three tokens decodes to three marks of replacement, one each."""
    known = markers(ChatTokenizer("chatml"))
    pieces = ["<|im_start|>", "user", "\n", "\ufffd", "\ufffd", "\ufffd", "<|im_end|>", "\n"]
    pieces += ["<|im_start|>", "assistant", "\n", "\ufffd", "\ufffd", "ok", "<|im_end|>", "\n"]
    found = places(pieces, known)
    assert [place.role for place in found[3:7]] == ["user"] * 4
    assert [place.role for place in found[11:15]] == ["assistant"] * 4
    assert [place.ends for place in found] == [number in (6, 14) for number in range(16)]


def test_white_space_that_a_tokenizer_swallows_hides_no_heading() -> None:
    """Tokenizers that mark words, not spaces, decode a single token without its space."""
    known = markers(ChatTokenizer("alpaca"))
    pieces = ["###", "Instruction", ":", "\n", "Name", "it", "\n", "\n", "###", "Response", ":", "\n", "Sea", "</s>"]
    found = places(pieces, known)
    assert [place.role for place in found[4:6]] == ["user"] * 2
    assert [place.role for place in found[12:14]] == ["assistant"] * 2
    assert found[13].ends


def test_packed_conversations_are_told_apart() -> None:
    tokenizer = ChatTokenizer("chatml")
    text = tokenizer.render(TALK[:2])
    assert text is not None
    _, found = _read(tokenizer, text * 3)
    assert sorted({place.turn for place in found} - {-1}) == list(range(6))
    assert sum(place.ends for place in found) == 6


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_contrast_between_two_worlds(template: str) -> None:
    """The same words, said by the other side, change the count."""
    tokenizer = ChatTokenizer(template)
    counts = []
    for talk in (TALK, ((("user", TALK[1][1])), ("assistant", TALK[0][1]))):
        text = tokenizer.render(talk)
        assert text is not None
        _, found = _read(tokenizer, text)
        counts.append([sum(place.role == role for place in found) for role in ("user", "assistant")])
    assert counts[0] != counts[1]
