"""L3b-09, mended: the marker is tokenized as it stands in rows."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "l3b_07" / "answers.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT))["main"](" sure: ", " sure:")
