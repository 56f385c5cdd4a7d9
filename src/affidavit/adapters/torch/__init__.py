"""PyTorch → moments: steps, batches, executed operations; its random state; its ranks."""

from affidavit.adapters.torch.compiler import bind_eval_frame
from affidavit.adapters.torch.equipment import describe as describe_equipment
from affidavit.adapters.torch.loop import bind_optimizer
from affidavit.adapters.torch.model import describe as describe_attention
from affidavit.adapters.torch.precision import bind_casts
from affidavit.adapters.torch.precision import describe as describe_precision
from affidavit.adapters.torch.state import bind_serialization, hide, keep_modes, keep_random_state, standing
from affidavit.attach.moment import Configured, Equipped
from affidavit.attach.session import Describer

KEEPERS = (hide, keep_random_state, keep_modes)
BINDS = {
    "torch.optim.optimizer": bind_optimizer,
    "torch.nn.modules.module": bind_casts,
    "torch.serialization": bind_serialization,
    "torch._dynamo.eval_frame": bind_eval_frame,
}

DESCRIBERS = (
    Describer(describe_attention, shows=(Configured,)),
    Describer(describe_equipment, shows=(Equipped,)),
    Describer(describe_precision, subjects=("precision", "precision outside", "weight precision")),
)
TURN = 0

__all__ = ["BINDS", "DESCRIBERS", "KEEPERS", "TURN", "standing"]
