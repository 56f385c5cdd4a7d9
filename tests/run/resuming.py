"""A plain loop that saves as it goes, and goes on from what it saved.

resuming.py FOLDER [--steps N] [--rate R] [--load all|weights|nothing]
"""

import argparse
from pathlib import Path

import torch


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--load", default="nothing")
    asked = parser.parse_args()
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=asked.rate)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=100)
    if asked.load != "nothing":
        kept = torch.load(asked.folder / "last.pt")
        net.load_state_dict(kept["net"])
        if asked.load == "all":
            optimizer.load_state_dict(kept["optimizer"])
            scheduler.load_state_dict(kept["scheduler"])
    for step in range(1, asked.steps + 1):
        net(torch.ones(2, 4)).square().mean().backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        if step % 3 == 0:
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
            torch.save(state, asked.folder / "last.pt")


if __name__ == "__main__":
    main()
