"""Puts a frozen backbone to rest; each validation ends with train() for all of the model, and wakes its norms."""

import torch

STEPS = 12


def main() -> None:
    """Train the head for twelve steps."""
    torch.manual_seed(0)
    backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
    model = torch.nn.Sequential(backbone, torch.nn.Flatten(), torch.nn.Linear(8 * 36, 2))
    backbone.requires_grad_(False)
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.01)
    model.train()
    backbone.eval()
    for step in range(STEPS):
        images = torch.randn(16, 3, 8, 8) + 2.0
        loss = torch.nn.functional.cross_entropy(model(images), (images.mean((1, 2, 3)) > 2.0).long())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}")
        if step % 5 == 4:
            model.eval()
            with torch.no_grad():
                print(f"validation {model(images).mean().item():.3f}")
            model.train()


if __name__ == "__main__":
    main()
