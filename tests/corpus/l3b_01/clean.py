"""L3b-01, mended: padding has a token of its own."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "world" / "turns_end_supervised" / "clean.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
