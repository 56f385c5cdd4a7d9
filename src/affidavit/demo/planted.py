"""The planted faults, and who must find each of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.check.finding import Verdict
from affidavit.demo import ordinary
from affidavit.demo.ordinary import Left

SCRIPTS = Path(__file__).parent / "scripts"

Files = Callable[[Left], Iterator[str]]


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What is changed in the committed project before the run: in one file, one stretch of text."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A planted fault: the script in which it lies, what is true of it, and the check that must name it.

    Args:
        subject: what the fault is about, in two or three words.
        says: the verdict of that check; where a choice may be meant, it asks and does not accuse.
        files: reads what an ordinary record says of the same run.
        environment: what a launcher left in the environment of the run, where the fault lies there.
        edit: what was changed after the commit, where the fault lies there. Such a run is refused before it starts,
            so what an ordinary record says of it comes from a run without us.
    """

    subject: str
    script: str
    truth: str
    check: str
    files: Files
    says: Verdict = Verdict.FAIL
    environment: Mapping[str, str] = field(default_factory=dict)
    edit: Edit | None = None

    @property
    def name(self) -> str:
        return self.script.removesuffix(".py")

    @property
    def claim(self) -> str:
        """What the script says of itself: the first line of its docstring."""
        said = ast.get_docstring(ast.parse((SCRIPTS / self.script).read_text())) or ""
        return said.partition("\n")[0]


FAULTS = (
    Fault(
        subject="attention kernel",
        script="attention_math.py",
        truth="A function from last week is still registered as sdpa; the fused kernel never runs.",
        check="attention-as-requested",
        files=ordinary.attention,
    ),
    Fault(
        subject="loss mask",
        script="user_turns_lit.py",
        truth="The generation markers stand around every turn: the model learns to ask the questions, too.",
        check="supervised-as-requested",
        files=ordinary.supervision,
    ),
    Fault(
        subject="end of turn",
        script="padded.py",
        truth="Padding is the token that ends a turn, and the collator masks both: nothing teaches it to stop.",
        check="turns-end-supervised",
        files=ordinary.end_of_turn,
    ),
    Fault(
        subject="rows of the data",
        script="long_chats.py",
        truth="In 32 of them the limit cuts the whole answer off, and TRL leaves them out.",
        check="rows-survive-preparation",
        files=ordinary.rows,
        says=Verdict.REVIEW,
    ),
    Fault(
        subject="columns of a row",
        script="loss_mask.py",
        truth="The Trainer drops a column that forward() does not name; the mask is None in every step.",
        check="columns-reach-model",
        files=ordinary.columns,
    ),
    Fault(
        subject="adapter",
        script="adapter_typo.py",
        truth='"v_prj" lacks a letter and matches nothing; PEFT complains only where no name matches.',
        check="adapter-targets-matched",
        files=ordinary.adapter,
    ),
    Fault(
        subject="optimizer",
        script="fresh_layer.py",
        truth="The optimizer was made before the new layer and holds the old one: the new one stays random.",
        check="optimizer-owns-what-trains",
        files=ordinary.optimizer,
    ),
    Fault(
        subject="schedule",
        script="cosine.py",
        truth="It was planned for 64 steps, one a chat, and moved 16 times, one a batch of four.",
        check="schedule-spans-run",
        files=ordinary.schedule,
    ),
    Fault(
        subject="batch",
        script="accumulate.py",
        truth="The loop never enters accelerator.accumulate(): every batch of four is a step.",
        check="batch-as-requested",
        files=ordinary.batch,
    ),
    Fault(
        subject="restored weights",
        script="second_round.py",
        truth='Every saved name begins with "module.", and strict=False takes none of them in silence.',
        check="states-reach-the-model",
        files=ordinary.restored,
    ),
    Fault(
        subject="dropout",
        script="validated.py",
        truth="The first validation calls eval() and nobody calls train() again: one step had its dropout.",
        check="modes-hold-training",
        files=ordinary.dropout,
    ),
    Fault(
        subject="precision",
        script="full_precision.py",
        truth="ACCELERATE_MIXED_PRECISION=bf16 was left in the environment, and it wins.",
        check="precision-as-requested",
        files=ordinary.precision,
        environment={"ACCELERATE_MIXED_PRECISION": "bf16"},
    ),
    Fault(
        subject="code",
        script="imports_helper.py",
        truth="helper.py was edited after the commit and takes the last exchange; no commit holds what ran.",
        check="tree-is-committed",
        files=ordinary.code,
        edit=Edit(file="helper.py", old='["messages"][:2]', new='["messages"][-2:]'),
    ),
)
