"""A Trainer and a Lightning fit that evaluate, save and predict, and what their own callbacks see on the way.

What the heartbeat says meanwhile is asked from within, under "phases"; without one there is nothing to ask.
"""

import json
import logging
import os
import warnings
from pathlib import Path

import torch
from witnessed import seed, told

ROWS = [{"x": torch.tensor([row / 8, 1.0]), "labels": torch.tensor([row % 2 * 1.0])} for row in range(16)]
PHASES: dict = {}
LAUNCH = os.environ.get("AFFIDAVIT_LAUNCH")


def ask(place: str) -> None:
    """Keep what the heartbeat says at a place of the script, each answer once."""
    from affidavit.attach import heartbeat

    spool = Path(json.loads(Path(str(LAUNCH)).read_text())["spool"]) if LAUNCH else None
    beats = [heartbeat.read(path) for path in spool.glob("heartbeat.*")] if spool else []
    for beat in beats:
        PHASES[place] = sorted({*PHASES.get(place, ()), beat.phase.name})


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = torch.nn.Linear(2, 1)
        self.step = 0

    def forward(self, x, labels=None):
        self.step += self.training
        place = "training" if self.training else "evaluating"
        ask(f"{place}, step {min(self.step, 3)}" if self.training else place)
        found = self.line(x)
        return {"loss": (found - labels).square().mean(), "logits": found}


def trains(where: str) -> dict:
    from transformers import Trainer, TrainerCallback, TrainingArguments

    seen = []

    class Witness(TrainerCallback):
        def on_step_end(self, args, state, control, **live):
            seen.append(("step", state.global_step, control.should_evaluate, control.should_save))

        def on_evaluate(self, args, state, control, **live):
            ask("evaluated")
            seen.append(("evaluated", state.global_step, control.should_evaluate, control.should_save))

        def on_save(self, args, state, control, **live):
            ask("saved")
            seen.append(("saved", state.global_step, control.should_evaluate, control.should_save))

    class Saves(Trainer):
        def _save_optimizer_and_scheduler(self, folder):
            ask("saving, the model is written")
            super()._save_optimizer_and_scheduler(folder)

        def _load_best_model(self):
            ask("loading the best")
            super()._load_best_model()

    seed()
    often = {"eval_strategy": where, "save_strategy": where, "eval_steps": 2, "save_steps": 2, "save_total_limit": 1}
    arguments = TrainingArguments(
        output_dir=f"saved-{where}",
        max_steps=6,
        per_device_train_batch_size=4,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        load_best_model_at_end=True,
        **often,
    )
    run = Saves(model=Net(), args=arguments, train_dataset=ROWS, eval_dataset=ROWS, callbacks=[Witness])
    names = [type(one).__name__ for one in run.callback_handler.callbacks]
    run.evaluate()
    run.train()
    ask("after the training")
    run.evaluate()
    run.predict(ROWS)
    ask("after an evaluation of its own")
    run.save_model(f"final-{where}")
    ask("after a save of its own")
    losses = [entry["eval_loss"] for entry in run.state.log_history if "eval_loss" in entry]
    usual = [name for name in names if not name.startswith("Affidavit")]
    return told(run.model, losses) | {"seen": seen, "callbacks": usual}


def fits() -> dict:
    import lightning.pytorch as lightning

    seen = []

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net()

        def training_step(self, batch, number):
            return self.net(**batch)["loss"]

        def validation_step(self, batch, number):
            self.log("validation", self.net(**batch)["loss"])

        def on_save_checkpoint(self, checkpoint):
            ask("saving")
            seen.append("saving")

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    class Witness(lightning.Callback):
        def on_validation_end(self, trainer, module):
            ask("evaluated")
            seen.append("evaluated")

    seed()
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    loader = torch.utils.data.DataLoader(ROWS, batch_size=4)
    run = lightning.Trainer(max_steps=8, callbacks=[Witness()], **quiet)
    module = Module()
    run.fit(module, loader, loader)
    ask("after the training")
    run.validate(module, loader, verbose=False)
    ask("after an evaluation of its own")
    names = [type(one).__name__ for one in run.callbacks]
    return told(module, []) | {"seen": seen, "callbacks": names}


def case(name: str) -> dict:
    PHASES.clear()
    same = fits() if name == "lightning" else trains(name)
    return {"same": same, "phases": dict(PHASES)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.getLogger("lightning").setLevel(logging.ERROR)
    print(json.dumps({name: case(name) for name in ("steps", "epoch", "lightning")}))
