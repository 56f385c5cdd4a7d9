"""L3b-01: padding is the end of a text, the collator masks both, and the model never stops.

Caught by turns-end-supervised.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "turns-end-supervised"
SCRIPT = Path(__file__).parents[2] / "world" / "turns_end_supervised" / "fault.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
