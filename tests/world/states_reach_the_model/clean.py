"""Puts in the body of a state, and is not strict about the head."""

import tiny
import torch


def build(outputs: int) -> torch.nn.Module:
    """A body of two layers and a head."""
    body = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 16), torch.nn.Tanh())
    return torch.nn.ModuleDict({"body": body, "head": torch.nn.Linear(16, outputs)})


def main() -> None:
    """Train from a state that was saved before, and print how the loss went."""
    torch.manual_seed(0)
    path = tiny.output_folder() / "state.pt"
    torch.save(build(5).state_dict(), path)
    model = build(1)
    state = torch.load(path)
    model.load_state_dict({name: state[name] for name in state if "head" not in name}, strict=False)

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        rows = torch.randn(16, 8)
        loss = (model["head"](model["body"](rows)) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
