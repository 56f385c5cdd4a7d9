"""Transformers → moments: the Trainer's loop and its arguments, models and what they asked for, tokenizers."""

from types import ModuleType

from affidavit.adapters.transformers import attention, models, nests, optimizer, plan, precision, tokenizers
from affidavit.adapters.transformers.arguments import bind_arguments
from affidavit.adapters.transformers.attention import bind_attention
from affidavit.adapters.transformers.handed import (
    bind_auto_config,
    bind_auto_models,
    bind_auto_tokenizer,
    bind_configs,
    bind_generation,
    bind_quantization,
)
from affidavit.adapters.transformers.models import bind_loading, bind_saving
from affidavit.adapters.transformers.tokenizers import bind_tokenizers, offer_tokenizer
from affidavit.adapters.transformers.trainer import bind_trainer
from affidavit.adapters.transformers.weights import bind_files
from affidavit.attach.moment import Configured, Handed, TrainBegin
from affidavit.attach.session import Describer, Session


def _describe_owners(moment: TrainBegin, session: Session) -> None:
    # It stands on the adapter of torch, which imports torch; this framework can be imported without it.
    from affidavit.adapters.transformers.owners import describe

    describe(moment, session)


DESCRIBERS = (
    Describer(tokenizers.describe),
    Describer(attention.describe, shows=(Configured,), subjects=("attention",)),
    Describer(models.describe, subjects=("weight precision",)),
    Describer(precision.describe, subjects=("precision", "precision outside")),
    Describer(plan.describe, subjects=plan.SUBJECTS),
    Describer(optimizer.describe, subjects=optimizer.SUBJECTS),
    Describer(nests.describe, shows=(Handed,)),
    Describer(_describe_owners, subjects=("config.owners",)),
)
TURN = 1


def bind_modeling(module: ModuleType, session: Session) -> None:
    bind_attention(module, session)
    bind_loading(module, session)
    bind_saving(module, session)
    bind_files(module, session)


BINDS = {
    "transformers.trainer": bind_trainer,
    "transformers.training_args": bind_arguments,
    "transformers.modeling_utils": bind_modeling,
    "transformers.tokenization_utils_base": bind_tokenizers,
    "transformers.configuration_utils": bind_configs,
    "transformers.generation.configuration_utils": bind_generation,
    "transformers.utils.quantization_config": bind_quantization,
    "transformers.models.auto.configuration_auto": bind_auto_config,
    "transformers.models.auto.auto_factory": bind_auto_models,
    "transformers.models.auto.tokenization_auto": bind_auto_tokenizer,
}

__all__ = ["BINDS", "DESCRIBERS", "TURN", "offer_tokenizer"]
