"""L3b-18: prompts are in the loss, though masking is believed to be on.

Caught by supervised-as-requested.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "supervised-as-requested"
SCRIPT = Path(__file__).parents[2] / "world" / "supervised_as_requested" / "fault_completion.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
