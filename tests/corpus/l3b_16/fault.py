"""L3b-16: a search for a marker of one token finds none.

Caught by every-row-teaches.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "every-row-teaches"
SCRIPT = Path(__file__).parents[1] / "l3b_07" / "answers.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT))["main"]("<|turn>", "<|turn>", shortest=2)
