"""L3b-19, mended: texts are plain."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "world" / "begin_not_doubled" / "clean.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
