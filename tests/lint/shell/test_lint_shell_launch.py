"""What a command starts, behind whatever launchers and wrappers stand in front of it."""

from __future__ import annotations

import pytest

from affidavit.lint.shell import Launch, commands, launch
from affidavit.lint.shell.launch import flags


def started(text: str) -> Launch | None:
    return launch(commands(text)[-1])


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("python t.py --x 1", "python"),
        ("/opt/bin/python3.11 -u -W ignore -X dev t.py --x 1", "python"),
        ("${PYTHON:-python} t.py --x 1", "python"),
        ("A=1 CUDA_VISIBLE_DEVICES=0 python t.py --x 1", "python"),
        ("env -u B A=1 python t.py --x 1", "python"),
        ("nohup time python t.py --x 1", "python"),
        ("exec python t.py --x 1 > log 2>&1", "python"),
        ("./t.py --x 1", "python"),
        ("uv run --with trl t.py --x 1", "python"),
        ("uv run python t.py --x 1", "python"),
        ("poetry run python t.py --x 1", "python"),
        ("conda run -n e python t.py --x 1", "python"),
        ("srun --gres=gpu:1 python t.py --x 1", "python"),
        ("srun torchrun --nproc_per_node 2 t.py --x 1", "torchrun"),
        ("torchrun --nproc_per_node=$N --rdzv_endpoint $H:$P t.py --x 1", "torchrun"),
        ("torchrun $ARGS t.py --x 1", "torchrun"),
        ("python -m torch.distributed.run --nproc_per_node 2 t.py --x 1", "torchrun"),
        ("python -m torch.distributed.launch t.py --x 1", "torchrun"),
        ("accelerate launch --config_file a.yaml t.py --x 1", "accelerate"),
        ("accelerate-launch t.py --x 1", "accelerate"),
        ("python -m accelerate.commands.launch t.py --x 1", "accelerate"),
        ("deepspeed --num_gpus 2 t.py --x 1", "deepspeed"),
        ('L="accelerate launch"\n$L t.py --x 1', "accelerate"),
    ],
)
def test_the_script_and_its_own_words_are_found(text: str, by: str) -> None:
    found = started(text)
    assert found is not None
    assert (found.script.removeprefix("./"), found.by) == ("t.py", by)
    assert [word.text for word in found.arguments] == ["--x", "1"]


@pytest.mark.parametrize(
    "text",
    [
        "python -c 'import x' --x",
        "python - --x < t.py",
        "python $SCRIPT --x",
        "pytest t.py --x",
        "docker run image python t.py --x",
        "ssh host python t.py --x",
        "echo python t.py --x",
        "accelerate config --x",
        "torchrun --no_python ./t.py --x",
        "$RUN t.py --x",
        "cat t.py",
    ],
)
def test_what_is_not_certain_starts_nothing(text: str) -> None:
    assert started(text) is None


def test_a_module_is_named_as_one() -> None:
    found = started("python -m pkg.train --x")
    assert found is not None and (found.script, found.is_module) == ("pkg.train", True)
    found = started("torchrun --nproc_per_node 2 -m pkg.train --x")
    assert found is not None and (found.script, found.is_module) == ("pkg.train", True)


def test_a_program_of_a_package_is_named_as_one() -> None:
    found = started("CUDA_VISIBLE_DEVICES=0 trl sft --config a.yaml")
    assert found is not None and (found.program, found.script) == ("trl sft", "")


def test_flags_are_those_that_are_surely_given() -> None:
    found = started('python t.py --a 1 --b=2 --c --d=$D --$E --f$G $H --i -j "--l 1" -- --k')
    assert found is not None
    assert [(name, value) for name, _, value in flags(found.arguments)] == [
        ("--a", "1"),
        ("--b", "2"),
        ("--c", ""),
        ("--d", ""),
        ("--i", "-j"),
    ]
