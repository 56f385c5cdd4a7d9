"""L3b-19: texts bring the token of the beginning, and the tokenizer adds it.

Caught by begin-not-doubled.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "begin-not-doubled"
SCRIPT = Path(__file__).parents[2] / "world" / "begin_not_doubled" / "fault.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
