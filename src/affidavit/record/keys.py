"""The values of a file that people write, each read by its key; what is wrong is collected, and told all at once."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field


@dataclass
class Keys:
    """Reads single values out of tables; the last part of a key names the value, the whole of it what is complained of.

    What cannot be read has a harmless value of its type: the reader goes on, and nobody uses what it returns.
    """

    complaints: list[str] = field(default_factory=list, init=False)

    def choice(self, table: dict[str, object], key: str, choices: tuple[str, ...], default: str = "") -> str:
        value = table.get(key.rpartition(".")[2], default or choices[0])
        if value not in choices:
            self.complaints.append(f"{key}: expected one of {', '.join(choices)}, saw {value!r:.60}")
        return str(value)

    def switch(self, table: dict[str, object], key: str, *, default: bool) -> bool:
        value = table.get(key.rpartition(".")[2], default)
        if not isinstance(value, bool):
            self.complaints.append(f"{key}: expected true or false, saw {value!r:.60}")
        return bool(value)

    def seconds(self, table: dict[str, object], key: str, *, default: float, most: float) -> float:
        value = table.get(key.rpartition(".")[2], default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            self.complaints.append(f"{key}: expected 0 to {most:g} seconds, saw {value!r:.60}")
            return default
        return float(value)

    def whole(self, table: dict[str, object], key: str, *, default: int, most: int) -> int:
        """Return a whole number from 1 up; a default of 0 is none, so that the key must be there."""
        value = table.get(key.rpartition(".")[2], default)
        if type(value) is not int or not 0 < value <= most:
            self.complaints.append(f"{key}: expected a whole number from 1 to {most:,}, saw {value!r:.60}")
            return default or 1
        return value

    def text(self, table: dict[str, object], key: str) -> str:
        value = table.get(key.rpartition(".")[2], "")
        if not isinstance(value, str) or not value.strip():
            self.complaints.append(f"{key}: expected text, saw {value!r:.60}")
        elif "\0" in value:  # no path and no command can hold it
            self.complaints.append(f"{key}: expected text without a NUL, saw {value!r:.60}")
        return str(value).strip()

    def texts(self, table: dict[str, object], key: str) -> tuple[str, ...]:
        value = table.get(key.rpartition(".")[2], [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.complaints.append(f"{key}: expected a list of texts, saw {value!r:.60}")
            return ()
        self.complaints += [f"{key}: expected texts without a NUL, saw {item!r:.60}" for item in value if "\0" in item]
        return tuple(value)

    def date(self, table: dict[str, object], key: str) -> datetime.date:
        value = table.get(key.rpartition(".")[2])
        if type(value) is datetime.date:
            return value
        self.complaints.append(f"{key}: expected a date such as 2026-12-31, saw {value!r:.60}")
        return datetime.date.min
