"""L3b-09: a marker is tokenized otherwise alone than behind a word, and is never found.

Caught by every-row-teaches.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "every-row-teaches"
SCRIPT = Path(__file__).parents[1] / "l3b_07" / "answers.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT))["main"](" sure: ", "sure:")
