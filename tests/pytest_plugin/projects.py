"""A small project with a mask that guards what a model learns from, and tests that guard it, or look as if they did."""

from __future__ import annotations

MASK = '''
"""Whose words are learnt."""

BANNED = frozenset({"user", "system"})


def masked(labels, roles):
    if len(labels) != len(roles):
        raise ValueError("ragged")
    return [-100 if role in BANNED else label for label, role in zip(labels, roles)]


def settled(value):
    while value > 0:
        value = value - 1
    return value


async def later(x):
    return x > 3


class Loss:
    weight = 2

    def of(self, values):
        return self.weight * sum(values)
'''

GOOD = """
import pytest
import gate


@pytest.mark.guards("gate:masked", property="the user's words are not learnt")
def test_good():
    assert gate.masked([1, 2, 3], ["user", "assistant", "system"]) == [-100, 2, -100]
    with pytest.raises(ValueError, match="ragged"):
        gate.masked([1], [])
"""

INERT = """
import pytest
import gate


@pytest.mark.guards("gate:masked", property="the user's words are not learnt")
def test_inert():
    labels = gate.masked([1, 2, 3], ["user", "assistant", "system"])
    assert len(labels) in range(99)
    try:
        gate.masked([1], [])
    except ValueError:
        pass
"""

WEAK = """
import pytest
import gate


@pytest.mark.guards("gate:masked")
def test_weak():
    assert gate.masked([1, 2], ["user", "assistant"]) == [-100, 2]
"""

NEVER = """
import pytest
import gate


@pytest.mark.guards("gate:masked")
def test_never():
    assert callable(gate.masked)
"""

MISSPELT = """
import pytest
import gate


@pytest.mark.guards("gate:mask")
def test_misspelt():
    assert gate.masked([1], ["a"]) == [1]
"""

LOSS = """
import torch
from torch import nn

IGNORED = -100
BANNED = ("user", "system")


class MaskedLoss(nn.Module):
    def forward(self, logits, labels, roles):
        banned = torch.tensor([[role in BANNED for role in row] for row in roles])
        labels = labels.masked_fill(banned, IGNORED)
        if (labels != IGNORED).sum() == 0:
            raise ValueError("nothing is learnt")
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
"""

IMPERSONATION = """
import pytest
import torch

from loss import MaskedLoss

LABELS = torch.tensor([[1, 2, 3], [1, 2, 3]])


@pytest.fixture(scope="module")
def logits():
    return torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))


@pytest.mark.guards("loss:MaskedLoss.forward", property="mask covers impersonation")
def test_mask(logits):
    kept = torch.nn.functional.cross_entropy(logits.flatten(0, 1)[[1, 2, 4]], torch.tensor([2, 3, 2]))
    given = [["user", "assistant", "assistant"], ["user", "assistant", "system"]]
    torch.testing.assert_close(MaskedLoss()(logits, LABELS, given), kept)
    with pytest.raises(ValueError, match="nothing"):
        MaskedLoss()(logits, LABELS, [["user"] * 3] * 2)


@pytest.mark.guards("loss:MaskedLoss.forward", property="mask covers impersonation")
def test_looks_fine(logits):
    loss = MaskedLoss()(logits, LABELS, [["user", "assistant", "assistant"]] * 2)
    assert torch.isfinite(loss) and loss > 0
"""
