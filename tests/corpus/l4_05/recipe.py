"""The rate, from a file beside this one."""

import json
from pathlib import Path

RATE = json.loads(Path(__file__).with_name("recipe.json").read_text())["rate"]
