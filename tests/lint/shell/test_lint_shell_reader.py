"""Shell text as commands: what the shell would make of each word, and where only the run can say."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.lint.shell import UNSEEN, commands

U = UNSEEN


def words(text: str, program: str = "python") -> list[list[str]]:
    """Return the arguments of each command of this name."""
    return [[word.text for word in one.words[1:]] for one in commands(text) if one.name.endswith(program)]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("python t.py --x 1 \\\n  --y 'a b' --z=\"c d\"", ["t.py", "--x", "1", "--y", "a b", "--z=c d"]),
        ('A=1\npython t.py --x=$A ${A} "$A $A"', ["t.py", "--x=1", "1", "1 1"]),
        ("A='--x 1'\npython t.py $A", ["t.py", "--x", "1"]),
        ("A='--x 1'\npython t.py \"$A\"", ["t.py", "--x 1"]),
        ("A=\npython t.py $A --x", ["t.py", "--x"]),
        ("A=(--x 1 '--y z')\nA+=(--w)\npython t.py \"${A[@]}\"", ["t.py", "--x", "1", "--y z", "--w"]),
        ("A=--x\nA+=' --y'\npython t.py $A", ["t.py", "--x", "--y"]),
        ("A='--x'\nA=\"$A --y\"\npython t.py $A", ["t.py", "--x", "--y"]),
        ('A="--x $B --y"\npython t.py $A', ["t.py", "--x", U, "--y"]),
        ("declare -a A=(1)\nexport B=2\nlocal C=3\npython ${A[@]} $B $C", ["1", "2", "3"]),
        ('python t.py $1 $@ "$*" $(cat f) `ls` $((1+1))', ["t.py", U, U, U, U, U, U]),
        ("python t.py ${A:-d} --x=${A:-1}", ["t.py", f"{U}d", f"--x={U}1"]),
        ("python t.py *.json --a{1,2}", ["t.py", f"{U}*.json", f"--a{U}{{1,2}}"]),
        ("python t.py \\$x a\\ b $'t\\tq' > out 2>&1 < in", ["t.py", "$x", "a b", "t\tq"]),
        ("if x; then A=1; fi\npython $A", [U]),
        ("if x; then A=1; python $A; fi", ["1"]),
        ("if x; then A=1; else A=2; python $A; fi", ["2"]),
        ("for A in 1 2; do python $A; done", [U]),
        ("A=1\nfor i in 1 2; do python $A; A=2; done", [U]),
        ("A=1\n(A=2)\npython $A", [U]),
        ("A=1 && B=2 && python $A $B", ["1", "2"]),
        ("x || A=1\npython $A", [U]),
        ("read A\npython $A", [U]),
        ("A=1\nunset A\npython $A", [U]),
        ("f() { python $A; }\nA=1\nf\nA=2\nf", [U]),
        ('f() { python $A "$@"; }\nA=1\nf', ["1", U]),
        ("X=$(python t.py --x)", ["t.py", "--x"]),
        ('echo "$(python t.py)"', ["t.py"]),
        ("a | python t.py | tee log", ["t.py"]),
        ("# python no.py\npython yes.py # --no", ["yes.py"]),
        ('CUDA_VISIBLE_DEVICES=0 B="1 2" python t.py', ["t.py"]),
        ("python t.py --x=\u00e4 '\u4e2d' --y", ["t.py", f"--x={U}", U, "--y"]),
        ("python t.py --x\nfoo ((( ", ["t.py", "--x"]),
    ],
)
def test_a_word_is_what_the_shell_makes_of_it(text: str, given: list[str]) -> None:
    assert words(text)[:1] == [given]


def test_a_command_has_its_line_its_variables_and_its_folder() -> None:
    first, _, second = commands("A=1 python a.py \\\n  --x\ncd sub\npython b.py")
    assert (first.line, first.assigned, first.folder) == (1, ("A=1",), "")
    assert [word.line for word in first.words] == [1, 1, 2]
    assert (second.line, second.folder) == (4, "sub")
    assert commands("cd $A; python b.py")[1].folder == "?"


def test_a_here_document_is_no_command_and_is_kept() -> None:
    first, second = commands("cat <<EOF > z.sh\npython c.py --x\nEOF\npython d.py")
    assert (first.name, first.fed, first.fed_line) == ("cat", "python c.py --x\n", 1)
    assert second.words[1].text == "d.py"


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), st.text(alphabet="$(){}[]\"'`\\|&;<>=#\n AB@*+-if thenfidoesac", max_size=150)))
def test_no_text_raises(text: str) -> None:
    for command in commands(text):
        assert command.words and 1 <= command.line <= text.count("\n") + 1


@pytest.mark.parametrize("text", ["$(" * 3000, "(" * 3000, "if x; then " * 2000, '"$(' * 2000, "{ " * 3000])
def test_no_depth_raises(text: str) -> None:
    commands(text + "python t.py")


def test_a_variable_that_doubles_itself_ends() -> None:
    begun = time.process_time()
    commands("A=--x\n" + 'A="$A $A"\n' * 60 + "B=($A $A)\n" + 'B=("${B[@]}" "${B[@]}")\n' * 60 + "python t.py $A")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "text", ["{\U000bbd6f", "`[<{\U000c8555|", "|`\n{\U00063bfd\U000854fd", "{\U0010ffff", "\x00{\x00"]
)
def test_a_character_that_ends_the_scanner_is_kept_from_it(text: str) -> None:
    assert [command.name for command in commands(f"python t.py\n{text}")][:1] == ["python"]
