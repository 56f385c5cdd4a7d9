"""L3b-12: an answer beyond the limit is gone, and its row with it.

Caught by rows-survive-preparation.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "rows-survive-preparation"
SCRIPT = Path(__file__).parents[2] / "world" / "rows_survive_preparation" / "fault.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
