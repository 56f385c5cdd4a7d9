"""Processes of every kind around a small training; the first argument says which. Prints what each of them knows."""

import gc
import json
import os
import subprocess
import sys

import torch
from witnessed import digest, seed, told

STEPS = 4


class Rows(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 16

    def __getitem__(self, place: int) -> torch.Tensor:
        return torch.full((4,), place / 16) + torch.rand(4)


class Forking(torch.nn.Module):
    """Forks in its forward, as a model does that starts a helper process of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.children = []

    def forward(self, rows):
        if os.environ.get("FORK_IN_FORWARD"):
            child = os.fork()
            if not child:
                for _ in range(2000):
                    torch.ones(4) * 2
                os._exit(0)
            self.children.append(child)
        rows = rows[:, None, None]
        return self.layer(torch.nn.functional.scaled_dot_product_attention(rows, rows, rows)).sum()


def train(workers: int = 0, context: str | None = None) -> dict:
    seed()
    model = Forking()
    wrapped = model
    if torch.distributed.is_initialized():
        wrapped = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(
        Rows(), batch_size=4, shuffle=True, num_workers=workers, multiprocessing_context=context
    )
    losses = []
    for rows in loader:
        loss = wrapped(rows)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    gc.collect()  # the loader's queues go now: at exit Python's resource tracker races with their semaphores
    for child in model.children:
        assert os.waitpid(child, 0)[1] == 0
    return told(model, losses)


def in_fork() -> dict:
    """Train, and train again in a forked child, which is not the run."""
    said = train()
    read, write = os.pipe()
    if not os.fork():
        os.write(write, json.dumps(train()).encode())
        os._exit(0)
    os.wait()
    return {"parent": said, "child": json.loads(os.read(read, 65536))}


def in_subprocess() -> dict:
    """The parent imports torch and trains nothing."""
    ended = subprocess.run([sys.executable, __file__, "here"], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return {"child": json.loads(ended.stdout)}


def rank(number: int, world: int, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=number, world_size=world)
    torch.distributed.barrier()
    train()
    torch.distributed.barrier()  # rank 0 holds the store: gloo aborts a rank that it leaves alone
    torch.distributed.destroy_process_group()


def spawned() -> dict:
    torch.multiprocessing.spawn(rank, args=(2, free_port()), nprocs=2)
    return {}


def idle(number: int) -> None:
    """A worker that imports torch, computes and trains nothing."""
    assert torch.ones(3).sum() == 3


def spawned_idle() -> dict:
    torch.multiprocessing.spawn(idle, nprocs=2)
    return train()


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def launched() -> dict:
    """A rank of a launcher."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.distributed.init_process_group("gloo")
    said = train()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    return said if os.environ.get("RANK", "0") == "0" else {}


def untrained() -> dict:
    return {"sum": torch.ones(3).sum().item(), "digest": digest(torch.nn.Linear(1, 1).requires_grad_(False))[:0]}


KINDS = {
    "here": train,
    "forked workers": lambda: train(workers=2, context="fork"),
    "spawned workers": lambda: train(workers=2, context="spawn"),
    "fork": in_fork,
    "fork in forward": train,
    "subprocess": in_subprocess,
    "spawned ranks": spawned,
    "spawned, idle": spawned_idle,
    "launched": launched,
    "untrained": untrained,
}


def main(kind: str) -> None:
    if kind == "fork in forward":
        os.environ["FORK_IN_FORWARD"] = "yes"
    said = KINDS[kind]()
    if said:
        print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
