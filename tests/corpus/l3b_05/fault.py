"""L3b-05: only the last answer of a conversation is trained on.

Caught by every-answer-supervised.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "every-answer-supervised"
SCRIPT = Path(__file__).parents[2] / "world" / "every_answer_supervised" / "fault.py"

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT), run_name="__main__")
