"""PyTorch → moments: steps, batches, executed operations; its random state; its ranks."""

from affidavit.adapters.torch.loop import bind_optimizer
from affidavit.adapters.torch.state import bind_serialization, keep_modes, keep_random_state, standing

KEEPERS = (keep_random_state, keep_modes)
BINDS = {"torch.optim.optimizer": bind_optimizer, "torch.serialization": bind_serialization}

__all__ = ["BINDS", "KEEPERS", "standing"]
