"""A schedule that moves once an epoch, and two optimizers for one model; all weights decay alike."""

import torch

EPOCHS, BATCHES = 5, 6


def main() -> None:
    """Train the two halves of a model, each with its optimizer."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))
    body = torch.optim.AdamW(model[:2].parameters(), lr=1e-2)
    head = torch.optim.SGD(model[2:].parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(body, T_max=EPOCHS)
    for _ in range(EPOCHS):
        for _ in range(BATCHES):
            rows = torch.randn(4, 8)
            loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
            loss.backward()
            body.step()
            head.step()
            model.zero_grad()
        scheduler.step()


if __name__ == "__main__":
    main()
