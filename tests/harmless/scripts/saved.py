"""Models saved by everything that saves models: a Trainer that rotates, resumes and uploads, and four other savers."""

import json
import logging
import sys
import warnings
from concurrent.futures import Future
from fnmatch import fnmatch
from pathlib import Path

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from witnessed import seed, told

ROWS = Dataset.from_list([{"input_ids": [row, 1, 2, 3], "labels": [row, 1, 2, 3]} for row in range(24)])
SIZES = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}


class Hub:
    """Lists what an upload would send."""

    def __init__(self) -> None:
        self.sent = []

    def create_repo(self, name, **how):
        return type("Url", (str,), {"repo_id": str(name)})(name)

    def upload_folder(self, *, folder_path, ignore_patterns=(), **how):
        names = [str(path.relative_to(folder_path)) for path in Path(folder_path).rglob("*") if path.is_file()]
        self.sent.append(sorted(name for name in names if not any(fnmatch(name, one) for one in ignore_patterns)))
        done = Future()
        done.set_result(None)
        return done


def new_model():
    seed()
    return LlamaForCausalLM(LlamaConfig(num_attention_heads=2, **SIZES))


def trainer(model, folder, steps, **more):
    quiet = {"report_to": [], "disable_tqdm": True, "use_cpu": True, "logging_steps": 2}
    saving = {"save_steps": 2, "save_total_limit": 2, "eval_strategy": "steps", "eval_steps": 2}
    arguments = TrainingArguments(
        output_dir=folder, max_steps=steps, per_device_train_batch_size=2, learning_rate=0.01, **saving, **quiet, **more
    )
    return Trainer(model=model, args=arguments, train_dataset=ROWS, eval_dataset=ROWS)


def losses(run) -> list:
    return [entry["loss"] for entry in run.state.log_history if "loss" in entry]


def rotates() -> dict:
    """Keep the best and the last, resume the last, load the best, save what came out, and upload it."""
    import transformers.trainer

    hub = Hub()
    transformers.trainer.hf_api = lambda: hub
    trainer(new_model(), "rotated", 6, load_best_model_at_end=True).train()
    kept = sorted(path.name for path in Path("rotated").iterdir())
    run = trainer(new_model(), "rotated", 8, load_best_model_at_end=True, push_to_hub=True, hub_strategy="every_save")
    run.train(resume_from_checkpoint=True)
    run.save_model("final")
    run.push_to_hub()
    left = sorted(path.name for path in Path("rotated").glob("checkpoint-*"))
    return told(run.model, losses(run)) | {"kept": kept, "left": left, "sent": hub.sent}


def adapts() -> dict:
    model = get_peft_model(new_model(), LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=True))
    run = trainer(model, "adapted", 2)
    run.train()
    model.save_pretrained("adapter")
    again = PeftModel.from_pretrained(new_model(), "adapter")
    merged = again.merge_and_unload()
    merged.save_pretrained("merged")
    return told(merged, losses(run))


def loops() -> dict:
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    found = []
    for step in range(4):
        loss = net(torch.ones(2, 4)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.item())
        torch.save(net.state_dict(), "last.pt")
        with Path(f"opened-{step}.pt").open("wb") as file:  # no path: nobody says where that lies
            torch.save(net.state_dict(), file)
    save_file(net.state_dict(), "last.safetensors")
    return told(net, found)


def accelerates() -> dict:
    from accelerate import Accelerator

    seed()
    net = torch.nn.Linear(4, 1)
    accelerator = Accelerator(cpu=True)
    prepared, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
    for _ in range(3):
        accelerator.backward(prepared(torch.ones(2, 4)).square().mean())
        optimizer.step()
        optimizer.zero_grad()
    place = accelerator.save_state("state")
    accelerator.save_model(prepared, "accelerated")
    return told(net, []) | {"place": str(place)}


def fits() -> dict:
    import lightning.pytorch as lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(4, 1)

        def training_step(self, batch, number):
            return self.net(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    seed()
    module = Module()
    keeps = lightning.callbacks.ModelCheckpoint(dirpath="fitted", every_n_train_steps=2, save_top_k=-1)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    run = lightning.Trainer(max_steps=4, accelerator="cpu", callbacks=[keeps], **quiet)
    run.fit(module, torch.utils.data.DataLoader(torch.rand(16, 4), batch_size=2))
    run.save_checkpoint("fitted/end.ckpt")
    return told(module, [])


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning").setLevel(logging.ERROR)
    savers = {"rotates": rotates, "adapts": adapts, "loops": loops, "accelerates": accelerates, "fits": fits}
    wanted = sys.argv[1:] or list(savers)
    print(json.dumps({name: savers[name]() for name in wanted}))
