"""One network through three loops: Lightning's own, Lightning's manual one with two optimizers, and Accelerate's."""

import json
import logging
import warnings

import torch
from witnessed import seed, told

STEPS = 6


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 1))

    def forward(self, rows):
        return self.layers(rows).square().mean()


def loader():
    return torch.utils.data.DataLoader(torch.rand(32, 4), batch_size=4, shuffle=True)


def lightning_fit(manual: bool) -> dict:
    import lightning.pytorch as lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.automatic_optimization = not manual
            self.net = Net()
            self.losses = []

        def training_step(self, batch, number):
            loss = self.net(batch)
            self.losses.append(loss.item())
            if manual:
                for optimizer in self.optimizers():
                    optimizer.zero_grad()
                self.manual_backward(loss)
                for optimizer in self.optimizers():
                    optimizer.step()
            return loss

        def validation_step(self, batch, number):
            self.log("validation", self.net(batch))

        def configure_optimizers(self):
            first, last = self.net.layers[0].parameters(), self.net.layers[2].parameters()
            if manual:
                return torch.optim.SGD(first, lr=0.1), torch.optim.SGD(last, lr=0.1)
            optimizer = torch.optim.AdamW(self.parameters(), lr=0.1)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2)]

    seed()
    module = Module()
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_steps=2 * STEPS if manual else STEPS,
        max_epochs=3,
        accelerator="cpu",
        val_check_interval=4,
        accumulate_grad_batches=1 if manual else 2,
        default_root_dir=".",
        **quiet,
    )
    trainer.fit(module, loader(), loader())
    callbacks = [type(callback).__name__ for callback in trainer.callbacks]
    return told(module.net, module.losses) | {"callbacks": callbacks, "steps": trainer.global_step}


def accelerate_loop() -> dict:
    from accelerate import Accelerator

    seed()
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
    prepared, optimizer, rows, schedule = accelerator.prepare(net, optimizer, loader(), schedule)
    losses = []
    for _ in range(2):
        for batch in rows:
            with accelerator.accumulate(prepared):
                loss = prepared(batch)
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(loss.item())
    return told(net, losses)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning").setLevel(logging.ERROR)
    loops = {
        "lightning": lightning_fit(manual=False),
        "lightning, two optimizers": lightning_fit(manual=True),
        "accelerate": accelerate_loop(),
    }
    print(json.dumps(loops))
