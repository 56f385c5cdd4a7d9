"""L3b-18, mended: the mask is on."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "world" / "supervised_as_requested" / "clean.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
