"""What makes a name legal, or harmless, takes it out of what is judged: a false name is worse than none."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_world import guarded, project, sure

T = "transformers.TrainingArguments"
HEAD = "import transformers\nfrom transformers import TrainingArguments\n"

LORA = "import sys\nif sys.argv == 'lora':\n    d = {'old': 1}\nelse:\n    d = {'seed': 1}\n"
GONE = {
    "set in one branch, used in another": LORA + "if sys.argv == 'oft':\n    TrainingArguments(**d)\n",
    "set in one branch, used after another left": (
        LORA
        + "def f():\n    pass\nwhile True:\n    if sys.argv == 'lora':\n        break\n    TrainingArguments(**d)\n"
    ),
    "set in one branch, used in one of two": LORA + "f(**d) if sys.argv == 'lora' else TrainingArguments(**d)\n",
    "added in one branch, copied in another": (
        "import sys\nd = {}\nif sys.argv == 'lora':\n    d['old'] = 1\ne = {}\nif sys.argv == 'oft':\n    e = {**d}\n"
        "TrainingArguments(**e)\n"
    ),
    "set in one branch, used by a function": LORA + "def f():\n    TrainingArguments(**d)\n",
    "popped": "d = {'old': 1}\nd.pop('old')\nTrainingArguments(**d)\n",
    "popped in a branch": "import sys\nd = {'old': 1}\nif sys.argv:\n    d.pop('old')\nTrainingArguments(**d)\n",
    "deleted": "d = {'old': 1}\ndel d['old']\nTrainingArguments(**d)\n",
    "cleared": "d = {'old': 1}\nd.clear()\nTrainingArguments(**d)\n",
    "a key that is not known is popped": "import sys\nd = {'old': 1}\nd.pop(sys.argv[1])\nTrainingArguments(**d)\n",
    "popped in a loop": "d = {'old': 1}\nfor k in ('old', 'older'):\n    d.pop(k, None)\nTrainingArguments(**d)\n",
    "popped through an alias": "d = {'old': 1}\ne = d\ne.pop('old')\nTrainingArguments(**d)\n",
    "popped from what may be it": (
        "import sys\nd = {'old': 1}\ne = {}\nf = d if sys.argv else e\nf.pop('old')\nTrainingArguments(**d)\n"
    ),
    "popped by a function": "def clean(d):\n    d.pop('old')\nd = {'old': 1}\nclean(d)\nTrainingArguments(**d)\n",
    "popped by a function for a module's dict": (
        "D = {'old': 1}\ndef clean():\n    D.pop('old')\ndef main():\n    clean()\n    TrainingArguments(**D)\n"
    ),
    "handed to somebody": "import cleaner\nd = {'old': 1}\ncleaner.clean(d)\nTrainingArguments(**d)\n",
    "handed to a method": (
        "class A:\n    def f(self):\n        d = {'old': 1}\n        self.g(d)\n        TrainingArguments(**d)\n"
    ),
    "filtered": "d = {'old': 1}\nd = {k: v for k, v in d.items() if k in ALLOWED}\nTrainingArguments(**d)\n",
    "filtered in a branch": (
        "import sys\nd = {'old': 1}\nif sys.argv:\n    d = {k: v for k, v in d.items() if v}\nTrainingArguments(**d)\n"
    ),
    "popped through a nested loop": (
        "C = {'a': {'old': 1}}\nfor name, d in C.items():\n    d.pop('old')\nTrainingArguments(**C['a'])\n"
    ),
    "filtered by a function": (
        "def only(d):\n    return {k: v for k, v in d.items() if k in dir(TrainingArguments)}\n"
        "TrainingArguments(**only({'old': 1}))\n"
    ),
    "another class under the name": "class TrainingArguments:\n    pass\nTrainingArguments(old=1)\n",
    "the name bound again": "TrainingArguments = wrap(TrainingArguments)\nTrainingArguments(old=1)\n",
    "a parameter of the name": "def f(TrainingArguments):\n    TrainingArguments(old=1)\n",
    "an __init__ of its own": (
        "class Mine(TrainingArguments):\n    def __init__(self, old=1):\n"
        "        super().__init__(**make())\nMine(old=1)\n"
    ),
    "a field of its own": (
        "from dataclasses import dataclass\n@dataclass\nclass Mine(TrainingArguments):\n    old: int = 1\nMine(old=1)\n"
    ),
    "a decorator that may do anything": (
        "import mine\n@mine.extend\nclass Mine(TrainingArguments):\n    pass\nMine(old=1)\n"
    ),
    "a decorated function": (
        "import mine\n@mine.clean\ndef build(d):\n    return TrainingArguments(**d)\nbuild({'old': 1})\n"
    ),
    "the class is patched": "TrainingArguments.__init__ = wrap\nTrainingArguments(old=1)\n",
    "the class is replaced": "transformers.TrainingArguments = wrap\nTrainingArguments(old=1)\n",
    "its __init__ pops it": (
        "class Mine(TrainingArguments):\n    def __init__(self, **kw):\n"
        "        kw.pop('old')\n        super().__init__(**kw)\n"
        "Mine(old=1)\n"
    ),
    "global, set elsewhere": (
        "D = {'old': 1}\ndef set_it():\n    global D\n    D = {}\ndef main():\n    TrainingArguments(**D)\n"
    ),
    "under TYPE_CHECKING's else": "D = {'old': 1} if transformers.__version__ < '5' else {}\nTrainingArguments(**D)\n",
    "a key by version": ("KEY = 'old' if transformers.__version__ < '5' else 'new'\nTrainingArguments(**{KEY: 1})\n"),
    "a key in either arm by version": (
        "if transformers.__version__ < '5':\n    KEY = 'old'\nelse:\n    KEY = 'new'\nTrainingArguments(**{KEY: 1})\n"
    ),
}


@pytest.mark.parametrize("trap", GONE)
def test_a_name_that_may_not_arrive_is_not_judged(trap: str, tmp_path: Path) -> None:
    assert not [names for _, names in sure(project(tmp_path, train=HEAD + GONE[trap])) if "old" in names]


UNDER = {
    "except TypeError": "try:\n    TrainingArguments(old=1)\nexcept TypeError:\n    TrainingArguments(new=1)\n",
    "except Exception": "try:\n    TrainingArguments(old=1)\nexcept Exception as e:\n    print(e)\n",
    "a bare except": "try:\n    TrainingArguments(old=1)\nexcept:\n    pass\n",
    "a handler": "try:\n    import new\nexcept ImportError:\n    TrainingArguments(old=1)\n",
    "pytest.raises": "import pytest\nwith pytest.raises(TypeError):\n    TrainingArguments(old=1)\n",
    "assertRaises": (
        "class A:\n    def test(self):\n        with self.assertRaises(TypeError):\n"
        "            TrainingArguments(old=1)\n"
    ),
    "suppress": "import contextlib\nwith contextlib.suppress(TypeError):\n    TrainingArguments(old=1)\n",
    "a version": "if transformers.__version__ < '5':\n    TrainingArguments(old=1)\n",
    "a version's else": "if transformers.__version__ < '5':\n    pass\nelse:\n    TrainingArguments(old=1)\n",
    "a version, kept": (
        "from packaging import version\nOLD = version.parse(transformers.__version__) < version.parse('5')\n"
        "if OLD:\n    TrainingArguments(old=1)\n"
    ),
    "a function that asks": (
        "def is_old():\n    return transformers.__version__ < '5'\nif is_old():\n    TrainingArguments(old=1)\n"
    ),
    "after a return by version": (
        "def f():\n    if transformers.__version__ > '5':\n        return TrainingArguments(new=1)\n"
        "    return TrainingArguments(old=1)\n"
    ),
    "a signature": (
        "import inspect\nif 'old' in inspect.signature(TrainingArguments).parameters:\n    TrainingArguments(old=1)\n"
    ),
    "a signature, kept": (
        "import inspect\nnames = inspect.signature(TrainingArguments.__init__).parameters\nd = {}\n"
        "if 'old' in names:\n    d['old'] = 1\nTrainingArguments(**d)\n"
    ),
    "fields": (
        "import dataclasses\nnames = {f.name for f in dataclasses.fields(TrainingArguments)}\nd = {}\n"
        "if 'old' in names:\n    d['old'] = 1\nTrainingArguments(**d)\n"
    ),
    "hasattr": "d = {}\nif hasattr(TrainingArguments, 'old'):\n    d['old'] = 1\nTrainingArguments(**d)\n",
    "a dict by version": (
        "if transformers.__version__ < '5':\n    d = {'old': 1}\nelse:\n    d = {'new': 1}\nTrainingArguments(**d)\n"
    ),
    "a constant by version": (
        "A = {'old': 1}\nB = {'new': 1}\nd = A if transformers.__version__ < '5' else B\nTrainingArguments(**d)\n"
    ),
    "an update in try": (
        "d = {}\ntry:\n    import old\n    d['old'] = 1\nexcept ImportError:\n    d['old'] = 2\n"
        "    TrainingArguments(**d)\n"
    ),
    "called in except TypeError": (
        "def make():\n    return TrainingArguments(old=1)\ntry:\n    make()\nexcept TypeError:\n    pass\n"
    ),
    "a name that is asked for": (
        "def f(**kw):\n    d = {}\n    if kw.get('old'):\n        d['old'] = kw['old']\n    TrainingArguments(**d)\n"
    ),
    "a name that is in what is given": (
        "def f(kw):\n    d = {}\n    if 'old' in kw:\n        d['old'] = 1\n    TrainingArguments(**d)\n"
    ),
    "xfail": "import pytest\n@pytest.mark.xfail\ndef test_it():\n    TrainingArguments(old=1)\n",
    "skipif": "import pytest\n@pytest.mark.skipif(True, reason='')\ndef test_it():\n    TrainingArguments(old=1)\n",
}


@pytest.mark.parametrize("shape", UNDER)
def test_a_guarded_name_says_its_guard(shape: str, tmp_path: Path) -> None:
    reading = project(tmp_path, train=HEAD + UNDER[shape])
    assert not [names for _, names in sure(reading) if "old" in names]
    assert [why for callee, names, why in guarded(reading) if callee == T and "old" in names]


HARMFUL = {
    "a try that is about something else": "try:\n    TrainingArguments(old=1)\nexcept OSError:\n    pass\n",
    "a handler that raises again": (
        "try:\n    TrainingArguments(old=1)\nexcept Exception as e:\n    print(e)\n    raise\n"
    ),
    "a test of the hardware": "import torch\nif torch.cuda.is_available():\n    TrainingArguments(old=1)\n",
    "a version that is refused": "if transformers.__version__ < '5':\n    raise SystemExit\nTrainingArguments(old=1)\n",
    "a try around an import": (
        "try:\n    import wandb\nexcept ImportError:\n    wandb = None\nTrainingArguments(old=1)\n"
    ),
    "an import in a try": (
        "try:\n    from transformers import TrainingArguments as A\nexcept ImportError:\n    A = None\nA(old=1)\n"
    ),
    "a test of a conversion": "import sys\nif sys.conversion:\n    TrainingArguments(old=1)\n",
    "a function that only reads": "def show(d):\n    print(d)\nd = {'old': 1}\nshow(d)\nTrainingArguments(**d)\n",
    "a copy that is popped": "d = {'old': 1}\ne = dict(d)\ne.pop('old')\nTrainingArguments(**d)\n",
    "a logger": (
        "import logging\nlogger = logging.getLogger()\nd = {'old': 1}\nlogger.info(d)\nTrainingArguments(**d)\n"
    ),
    "a subclass without an __init__": "class Mine(TrainingArguments):\n    x = 1\nMine(old=1)\n",
    "an __init__ that hands it on": (
        "class Mine(TrainingArguments):\n    def __init__(self, mine, **kw):\n"
        "        super().__init__(**kw)\nMine(mine=1, old=1)\n"
    ),
}


@pytest.mark.parametrize("shape", HARMFUL)
def test_what_only_looks_like_a_guard_is_none(shape: str, tmp_path: Path) -> None:
    reading = project(tmp_path, train=HEAD + HARMFUL[shape])
    assert [names for callee, names in sure(reading) if callee == T and "old" in names]


def test_a_field_of_a_subclass_is_taken_out_and_the_rest_is_not(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass, field\n@dataclass\nclass Mine(TrainingArguments):\n"
        "    old: int = field(default=1)\nMine(old=1, older=2)\n"
    )
    assert sure(project(tmp_path, train=HEAD + text)) == [(T, "older:7")]
