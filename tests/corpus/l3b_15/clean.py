"""L3b-15, mended: the template marks what an assistant says."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "corpus" / "l3b_14" / "clean.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
