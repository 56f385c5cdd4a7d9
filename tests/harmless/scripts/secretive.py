"""Trains with secrets wherever people put them: arguments, keywords, environment, configs, URLs, errors."""

import argparse
import json
import os
import sys
from pathlib import Path

import torch
from witnessed import seed, told


class Net(torch.nn.Module):
    """Keeps a secret where a description would find it."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.token = token

    def __repr__(self) -> str:
        return f"Net(token={self.token})"

    def forward(self, rows, **more):
        return self.layer(rows).sum()


def with_transformers(secret: str) -> None:
    """Give the secret to everything that takes one."""
    import tiny
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    base = tiny.write_base(Path("out"))
    model = AutoModelForCausalLM.from_pretrained(base, token=secret)
    tokenizer = AutoTokenizer.from_pretrained(base, token=secret)
    arguments = SFTConfig(
        hub_token=secret,
        hub_model_id=f"https://user:{secret}@host/x",
        run_name=f"run-{secret}",
        **tiny.training_settings(Path("out")) | {"max_steps": 3},
    )
    rows = Dataset.from_list(tiny.chats())
    SFTTrainer(model=model, processing_class=tokenizer, train_dataset=rows, args=arguments).train()


def main() -> None:
    parser = argparse.ArgumentParser()
    for flag in ("--wandb-key", "--hub_token", "--dsn", "--note"):
        parser.add_argument(flag, default="")
    given = parser.parse_args()
    secret = given.hub_token
    Path("settings.yaml").write_text(f"rate: 1\napi_key: {secret}\nurl: https://me:{secret}@host/x\n")
    Path("settings.yaml").read_text()
    os.environ["MY_PASSWORD"] = secret
    seed()
    net = Net(secret)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = net(torch.ones(4), note=secret)
        loss.backward()
        optimizer.step()
    said = told(net, [loss.item()])
    del optimizer, net
    if "transformers" in sys.modules:
        with_transformers(secret)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
