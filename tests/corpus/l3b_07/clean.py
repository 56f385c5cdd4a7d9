"""L3b-07, mended: the marker holds no padding."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).with_name("answers.py")

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT))["main"]("\nAnswer: ", "\nAnswer:")
