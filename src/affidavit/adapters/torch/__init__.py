"""PyTorch → moments: steps, batches, executed operations; its random state; its ranks."""

from affidavit.adapters.torch.compiler import bind_eval_frame
from affidavit.adapters.torch.loop import bind_optimizer
from affidavit.adapters.torch.model import describe
from affidavit.adapters.torch.state import bind_serialization, hide, keep_modes, keep_random_state, standing
from affidavit.attach.moment import Asked, Configured

KEEPERS = (hide, keep_random_state, keep_modes)
BINDS = {
    "torch.optim.optimizer": bind_optimizer,
    "torch.serialization": bind_serialization,
    "torch._dynamo.eval_frame": bind_eval_frame,
}

SHOWS = (Asked, Configured)
TURN = 0

__all__ = ["BINDS", "KEEPERS", "SHOWS", "TURN", "describe", "standing"]
