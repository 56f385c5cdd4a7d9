"""Every block of the playbook, of the examples and of the README runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import ROOT, Command, agrees, perform, reader, renewed, steps

PAGES = sorted((ROOT / "docs/playbook").glob("*.md"))
README = ROOT / "README.md"
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
DOCUMENTS = [*PAGES, *EXAMPLES, *([README] if "```console" in README.read_text() else [])]
"""Whatever shows a command after ``$ `` and what it prints; a ``sh`` block is shown and not run."""
HEADINGS = ("## Story", "## See it lie", "## Catch it", "## Break the catch", "## Blind to")

PAGE = """
```text
# data/one.txt
one
```

```console
$ cat data/one.txt
# data/one.txt
one
$ false
$ echo "$?" && \\
    echo two
1
two
$ printf 'in %s\\n' "$(printf '2.31 s, %s' 2026-01-02T03:04:05Z)"
in 9.99 s, 2025-12-31
$ seq 3 && echo 'loss 3.14'
1
…
loss …
```
"""


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    performed = perform(page.read_text(), work, reader(home))
    stale = [f"$ {command.line}\n{printed}" for command, printed in performed if not agrees(command.expected, printed)]
    assert performed
    assert not stale, "this is printed now:\n" + "\n".join(stale)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_has_its_parts_in_order(page: Path) -> None:
    text = page.read_text()
    places = [text.find(f"\n{heading}") for heading in HEADINGS]
    assert -1 not in places, dict(zip(HEADINGS, places, strict=True))
    assert places == sorted(places)


def test_the_runner_keeps_one_shell_and_one_folder(tmp_path: Path) -> None:
    performed = perform(PAGE, tmp_path, reader(tmp_path))
    assert len(performed) == 5
    assert all(agrees(command.expected, printed) for command, printed in performed), performed


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("one\n", "two\n"),
        ("one\n", ""),
        ("", "one\n"),
        ("1\n…\n4\n", "1\n2\n3\n"),
        ("loss …\n", "gain 1\n"),
        ("a…b", "a\nb"),
    ],
)
def test_stale_output_is_seen(said: str, printed: str) -> None:
    assert not agrees(said, printed)


def test_a_renewed_output_keeps_the_lines_that_are_open() -> None:
    assert renewed("a 1\nb … c\n…\n", "a 2\nb 3 c\nd") == "a 2\nb … c\nd\n"


def test_a_command_that_ends_the_shell_is_seen(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="after 1 of 2 commands"):
        perform("```console\n$ echo a\n$ exit 3\n```\n", tmp_path, reader(tmp_path))


def test_output_stands_where_the_command_says() -> None:
    for step in steps(PAGE):
        if isinstance(step, Command):
            assert PAGE[step.start : step.end] == step.expected
