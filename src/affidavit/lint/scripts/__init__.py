"""Python scripts, read as text: which names surely reach which installed callable."""

from __future__ import annotations

from affidavit.lint.scripts.read import read_scripts
from affidavit.lint.scripts.reading import Declared, Late, Option, Parse, Parser, Reading, Target

__all__ = ["Declared", "Late", "Option", "Parse", "Parser", "Reading", "Target", "read_scripts"]
