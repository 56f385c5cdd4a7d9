"""The names that are read from text are those of the live objects, on the installed stack and on the older one."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from affidavit.lint.catalogue import Catalogue
from affidavit.names.signature import Rest, Signature

HERE = Path(__file__).parent


def _below(module: str, names: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for name in names.split())


CALLEES = (
    *_below("trl", "SFTConfig DPOConfig GRPOConfig KTOConfig RLOOConfig RewardConfig ModelConfig ScriptArguments"),
    *_below("trl", "SFTTrainer DPOTrainer GRPOTrainer KTOTrainer RLOOTrainer RewardTrainer get_dataset"),
    *_below("transformers", "TrainingArguments Seq2SeqTrainingArguments Trainer Seq2SeqTrainer BitsAndBytesConfig"),
    *_below("transformers", "DataCollatorForLanguageModeling DataCollatorWithPadding DataCollatorForSeq2Seq"),
    *_below("transformers", "EarlyStoppingCallback get_scheduler get_cosine_schedule_with_warmup set_seed"),
    *_below("transformers", "get_cosine_with_min_lr_schedule_with_warmup get_reduce_on_plateau_schedule"),
    *_below("peft", "LoraConfig AdaLoraConfig IA3Config PrefixTuningConfig PromptTuningConfig PromptEncoderConfig"),
    *_below("peft", "LoHaConfig LoKrConfig OFTConfig BOFTConfig VeraConfig get_peft_model PeftModel.from_pretrained"),
    *_below("accelerate", "Accelerator DeepSpeedPlugin FullyShardedDataParallelPlugin DataLoaderConfiguration"),
    *_below("accelerate", "DistributedDataParallelKwargs GradScalerKwargs InitProcessGroupKwargs notebook_launcher"),
    *_below("accelerate", "init_empty_weights load_checkpoint_and_dispatch dispatch_model"),
    *_below("accelerate.utils", "ProjectConfiguration GradientAccumulationPlugin TorchDynamoPlugin ProfileKwargs"),
    *_below("torch.optim", "AdamW Adam SGD Adagrad Adadelta Adamax NAdam RAdam RMSprop Rprop ASGD LBFGS SparseAdam"),
    *_below("torch.optim.lr_scheduler", "LambdaLR StepLR MultiStepLR CosineAnnealingLR OneCycleLR LinearLR CyclicLR"),
    *_below("torch.optim.lr_scheduler", "CosineAnnealingWarmRestarts ReduceLROnPlateau ExponentialLR SequentialLR"),
    *_below("torch.utils.data", "DataLoader DistributedSampler random_split"),
    *_below("torch", "nn.Linear nn.Embedding nn.CrossEntropyLoss nn.utils.clip_grad_norm_ amp.GradScaler compile"),
    *_below("torch", "distributed.init_process_group nn.parallel.DistributedDataParallel profiler.profile save"),
    *_below("datasets", "load_dataset load_from_disk concatenate_datasets interleave_datasets Dataset.from_dict"),
    *_below("datasets", "Dataset.map Dataset.filter Dataset.train_test_split DatasetDict.map IterableDataset.map"),
    *_below("lightning.pytorch", "Trainer Trainer.fit callbacks.ModelCheckpoint callbacks.EarlyStopping"),
    *_below("lightning.pytorch", "callbacks.LearningRateMonitor loggers.CSVLogger seed_everything"),
    *_below("pytorch_lightning", "Trainer callbacks.ModelCheckpoint"),
)
RENAMED = {"tokenizer"}
"""Names that a decorator takes besides the signature, where :func:`inspect.signature` looks through it."""


@cache
def live(python: str) -> dict[str, Any]:
    """The live half, in a process of its own: these imports take longer than all the reading."""
    ended = subprocess.run(
        [python, "-W", "ignore", os.fspath(HERE / "live.py")],
        input=json.dumps(CALLEES),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


@cache
def catalogue(*sites: Path) -> Catalogue:
    return Catalogue(sites, None)


def site_of(prefix: Path) -> Path:
    (found,) = prefix.glob("lib/python3*/site-packages")
    return found


def hold(found: Signature, told: dict[str, Any]) -> None:
    """Compare both halves; a name is too many only where the live one takes no others."""
    names = {name: value for name, value in told["names"].items() if name not in {"self", "cls"}}
    assert set(names) <= set(found.parameters)
    if not told["open"]:
        assert set(found.parameters) - set(names) <= RENAMED
        assert found.rest is Rest.CLOSED, found.why
    for name, value in names.items():
        default = found.parameters[name].default
        if value == "absent":
            assert default == "", name
        elif value != "object":
            try:
                literal = ast.literal_eval(default)
            except (ValueError, SyntaxError):
                assert default, name
                continue
            assert [literal] == value, name


@pytest.mark.parametrize("callee", CALLEES)
def test_text_and_live_object_agree(callee: str) -> None:
    found = catalogue(site_of(Path(sys.prefix))).find(callee)
    assert isinstance(found, Signature), found
    hold(found, live(sys.executable)[callee])


@pytest.mark.parametrize("callee", CALLEES)
def test_text_and_live_object_of_the_older_stack_agree(callee: str, old_python: Path) -> None:
    sites = site_of(old_python.parent.parent), site_of(Path(sys.prefix))
    found = catalogue(*sites).find(callee)
    assert isinstance(found, Signature), found
    hold(found, live(os.fspath(old_python))[callee])


def test_there_are_enough_of_them() -> None:
    assert len(set(CALLEES)) == len(CALLEES) >= 60


def test_nothing_of_the_stack_is_imported_by_reading_it() -> None:
    code = (
        "import sys; from pathlib import Path; from affidavit.lint.catalogue import Catalogue;"
        f"c = Catalogue([Path({os.fspath(site_of(Path(sys.prefix)))!r})], None);"
        "assert len(c.find('trl.SFTConfig').parameters) > 100;"
        "assert not {'torch', 'transformers', 'trl'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
