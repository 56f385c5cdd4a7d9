"""The engine's file names the peak that the optimizer was given, and no schedule is handed over beside it."""

import json
import sys
from pathlib import Path

import tiny
import torch

sys.path.insert(0, str(Path(__file__).parent / "engine"))

CONFIG = {
    "gradient_clipping": 1.0,
    "scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": 0.01, "warmup_num_steps": 4}},
}


def main() -> None:
    """Train for eight steps."""
    import deepspeed

    file = tiny.output_folder() / "engine.json"
    file.write_text(json.dumps(CONFIG))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=str(file))
    for step in range(8):
        rows = torch.randn(16, 8)
        loss = (engine(rows) - rows.sum(1, keepdim=True)).square().mean()
        engine.backward(loss)
        engine.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
