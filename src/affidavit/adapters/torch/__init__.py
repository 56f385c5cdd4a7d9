"""PyTorch → moments: steps, batches, executed operations; its random state; its ranks."""

from types import ModuleType

from affidavit.adapters.torch.compiler import bind_eval_frame
from affidavit.adapters.torch.equipment import describe as describe_equipment
from affidavit.adapters.torch.loop import bind_optimizer
from affidavit.adapters.torch.model import describe as describe_attention
from affidavit.adapters.torch.precision import bind_casts
from affidavit.adapters.torch.precision import describe as describe_precision
from affidavit.adapters.torch.state import bind_serialization, hide, keep_modes, keep_random_state, standing
from affidavit.adapters.torch.weights import bind_states
from affidavit.adapters.torch.weights import describe as describe_weights
from affidavit.attach.moment import Configured, Equipped, Handed, Restored
from affidavit.attach.session import Describer, Session
from affidavit.names.handed import describe as describe_handed


def bind_module(module: ModuleType, session: Session) -> None:
    bind_casts(module, session)
    bind_states(module, session)


KEEPERS = (hide, keep_random_state, keep_modes)
BINDS = {
    "torch.optim.optimizer": bind_optimizer,
    "torch.nn.modules.module": bind_module,
    "torch.serialization": bind_serialization,
    "torch._dynamo.eval_frame": bind_eval_frame,
}

DESCRIBERS = (
    Describer(describe_attention, shows=(Configured,)),
    Describer(describe_equipment, shows=(Equipped,)),
    Describer(describe_weights, shows=(Restored,)),
    Describer(describe_handed, shows=(Handed,)),
    Describer(describe_precision, subjects=("precision", "precision outside", "weight precision")),
)
TURN = 0

__all__ = ["BINDS", "DESCRIBERS", "KEEPERS", "TURN", "standing"]
