"""L3b-07: the marker of an answer holds the token of the padding, which is masked before it is looked for.

Caught by every-row-teaches.
"""

import runpy
from pathlib import Path

CAUGHT_BY = "every-row-teaches"
SCRIPT = Path(__file__).with_name("answers.py")

if __name__ == "__main__":
    runpy.run_path(str(SCRIPT))["main"]("<pad>Answer: ", "<pad>Answer:")
