"""Options that nobody typed are told from those that somebody did; in doubt an option was typed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import pytest

from affidavit.attach import options
from affidavit.attach.options import hear_parsers, is_left, is_typed


@pytest.fixture(autouse=True)
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every parser is heard, and none once the test is over."""
    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", argparse.ArgumentParser.parse_known_args)
    for name, empty in (("_left", {}), ("_typed", set()), ("_heard", [])):
        monkeypatch.setattr(options, name, empty)
    hear_parsers(lambda call: call)
    hear_parsers(lambda call: call)
    yield


def _parser(kind: type[argparse.ArgumentParser] = argparse.ArgumentParser, **how: Any) -> argparse.ArgumentParser:
    parser = kind(**how)
    parser.add_argument("output", nargs="?")
    parser.add_argument("-p", "--mixed_precision", "--mixed-precision", default="no")
    return parser


@pytest.mark.parametrize("words", [[], ["out"]])
def test_a_default_that_nobody_typed_is_left(words: list[str]) -> None:
    assert _parser().parse_args(words).mixed_precision == "no"
    assert is_left("mixed_precision", "no")
    assert not is_left("mixed_precision", "bf16")
    assert not is_left("output", None)


@pytest.mark.parametrize(
    "words",
    [["--mixed_precision", "no"], ["--mixed-precision=no"], ["--mixed_p", "no"], ["-p", "no"], ["-pno"]],
)
def test_what_somebody_typed_is_not_left_also_where_it_is_the_default(words: list[str]) -> None:
    assert _parser().parse_args(words).mixed_precision == "no"
    assert not is_left("mixed_precision", "no")


def test_a_default_that_came_from_elsewhere_is_somebodys_word() -> None:
    parser = _parser()
    parser.set_defaults(mixed_precision="no")
    parser.parse_args([])
    assert not is_left("mixed_precision", "no")
    _parser().parse_args([], argparse.Namespace(mixed_precision="no"))
    assert not is_left("mixed_precision", "no")


def test_words_from_a_file_are_typed(tmp_path: Any) -> None:
    (tmp_path / "words").write_text("--mixed_precision\nno\n")
    assert _parser(fromfile_prefix_chars="@").parse_args([f"@{tmp_path / 'words'}"]).mixed_precision == "no"
    assert not is_left("mixed_precision", "no")


def test_a_librarys_parser_leaves_nothing_and_tells_what_was_typed() -> None:
    class Library(argparse.ArgumentParser):
        """Its defaults may have been written into its options from a file."""

    _parser(Library).parse_args([])
    assert not is_left("mixed_precision", "no") and not is_typed("mixed_precision")
    _parser(Library).parse_args(["--mixed_precision", "no"])
    assert is_typed("mixed_precision")


def test_words_are_taken_from_the_command_line_where_none_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["train.py", "--mixed_precision", "fp16"])
    assert _parser().parse_args().mixed_precision == "fp16"
    assert not is_left("mixed_precision", "fp16")


def test_a_parser_that_refuses_does_so_as_before() -> None:
    with pytest.raises(SystemExit):
        _parser().parse_args(["--nothing"])
