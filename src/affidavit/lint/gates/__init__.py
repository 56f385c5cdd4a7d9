"""Gates that cannot say no and alarms that cannot say dead, seen in the text of shells and of what starts them."""

from affidavit.lint.gates.reading import GateReading, read_gates
from affidavit.lint.gates.rule import Inert, Rule

__all__ = ["GateReading", "Inert", "Rule", "read_gates"]
