"""States that are put in, tied, transposed, followed and dropped: whatever of weights is looked at, in one training."""

import copy
import inspect
import json
import weakref

import torch
from witnessed import digest, seed, told


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(40, 6)
        self.image = torch.nn.Conv2d(3, 6, 3).to(memory_format=torch.channels_last)
        self.mixed = torch.nn.Parameter(torch.randn(6, 6).t())
        self.head = torch.nn.Linear(6, 40, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens, image):
        return self.head((self.tokens(tokens) + self.image(image).mean((2, 3)).unsqueeze(1)) @ self.mixed)


class Both(torch.nn.Module):
    """A student, and the teacher that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.student = Net()
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)


def main() -> None:
    seed()
    saved = {f"module.{name}": tensor for name, tensor in Net().state_dict().items()}
    both = Both()
    found = both.student.load_state_dict(saved, strict=False)
    said = [sorted(found.missing_keys), sorted(found.unexpected_keys)]
    found = both.student.load_state_dict({name[7:]: tensor for name, tensor in saved.items()})
    said += [repr(found), digest(both.student)]
    try:
        both.student.load_state_dict(saved)
    except RuntimeError as error:
        said.append(str(error))
    said.append(str(inspect.signature(torch.nn.Module.load_state_dict)))
    said.append(inspect.getsource(torch.nn.Module.load_state_dict)[:80])

    scratch = Net()
    scratch.load_state_dict(saved, strict=False)
    gone = weakref.ref(scratch)
    del scratch
    said.append(gone() is None)

    optimizer = torch.optim.AdamW(both.student.parameters(), lr=1e-2)
    losses = []
    for _ in range(9):
        tokens = torch.randint(0, 40, (2, 5))
        image = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
        scores = both.student(tokens, image)
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        both.teacher.load_state_dict(both.student.state_dict())
        losses.append(loss.item())
    strides = [list(parameter.stride()) for parameter in both.parameters()]
    print(json.dumps(told(both, losses) | {"said": said, "strides": strides}))


if __name__ == "__main__":
    main()
