"""L3b-08: a blank in front of the marker changes how it is tokenized, and its rows are ignored.

Caught by every-row-teaches.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "every-row-teaches"
SCRIPT = Path(__file__).parents[2] / "world" / "every_row_teaches" / "fault.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
