"""L3b-17, mended: a marker of one token is found."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "corpus" / "l3b_16" / "clean.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
