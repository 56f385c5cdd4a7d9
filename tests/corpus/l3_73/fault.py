"""L3-73: strict=False with no name in common; a random encoder was handed out as pretrained.

Caught by states-reach-the-model.
"""

import tiny
import torch

CAUGHT_BY = "states-reach-the-model"


def backbone() -> torch.nn.Sequential:
    """A small image encoder."""
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 4, 3))


def pretrained(path) -> torch.nn.Module:
    """Return the encoder with the weights of a checkpoint."""
    model = backbone()
    state = torch.load(path)["state_dict"]
    model.load_state_dict(state, strict=False)
    return model


def main() -> None:
    """Train a head and the encoder, and print how the loss went."""
    torch.manual_seed(0)
    path = tiny.output_folder() / "encoder.pth"
    torch.save({"state_dict": {f"backbone.{name}": one for name, one in backbone().state_dict().items()}}, path)
    model = torch.nn.Sequential(pretrained(path), torch.nn.Flatten(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        images = torch.randn(8, 3, 8, 8)
        loss = (model(images) - images.mean((1, 2, 3)).unsqueeze(1)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
