"""What of torch is about training. Half of all files import torch; few of them call it by name."""

from __future__ import annotations

import functools
from typing import Final

TORCH: Final = (
    b"optim.",
    b"optim import",
    b"lr_scheduler",
    b"DataLoader",
    b"autocast",
    b"GradScaler",
    b"compile(",
    b"checkpoint(",
    b"DataParallel",
    b"DistributedSampler",
    b"fully_shard",
    b"scaled_dot_product",
    b"clip_grad",
    b"torch.load",
    b"torch.save",
    b"init_process_group",
    b"CrossEntropyLoss",
    b"cross_entropy",
)


def trains(raw: bytes) -> bool:
    """Whether torch is called for what is about training."""
    return b"torch" in raw and any(word in raw for word in TORCH)


@functools.cache
def is_about_training(dotted: str) -> bool:
    """Whether an installed callable is: all that is not torch's is."""
    called = f"{dotted}(".encode()
    return dotted.partition(".")[0] != "torch" or any(word in called for word in TORCH)
