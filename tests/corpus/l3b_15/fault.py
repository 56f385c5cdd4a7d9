"""L3b-15: the same mask of zeros, which passes a check of its length.

Caught by every-row-teaches.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "every-row-teaches"
SCRIPT = Path(__file__).parents[2] / "corpus" / "l3b_14" / "fault.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
