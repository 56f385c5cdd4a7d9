"""A series as a drawing: where each point, tick and mark lies, in the units of the drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.fact.values import Series

WIDTH, HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 14, 30, 40
_TICKS = 4
_LETTER = 6.2
"""The width of a letter of a mark's label; it decides only whether two labels would touch."""


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A line across the drawing, with its number."""

    at: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A step of the plan: a dashed line down the drawing, and its label on a row of its own where two would touch."""

    at: float
    text_at: float
    text_row: float
    anchor: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One drawing. ``beyond`` names the steps of the plan that lie to the right of it."""

    points: str
    dots: tuple[tuple[float, float], ...]
    across: tuple[Tick, ...]
    down: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    beyond: tuple[str, ...]
    title: str
    left: float
    right: float
    top: float
    bottom: float
    width: int = WIDTH
    height: int = HEIGHT


def curve(series: Series, planned: Iterable[tuple[int, str]], *, what: str) -> Curve | None:
    """Return the drawing of a series over steps, or None where it has no finite point.

    Args:
        planned: steps of the plan, each with its label; those up to a third beyond the last point are drawn.
        what: what the numbers are, for the sentence that stands in for the drawing.

    Blind to: points that are not finite; they are left out of the line, and the table beside it has them.
    """
    points = [(x, y) for x, y in zip(series.x, series.y) if math.isfinite(y)]
    if not points:
        return None
    steps = [x for x, _ in points]
    marks = sorted((step, label) for step, label in planned if step > 0)
    reach = max(steps[-1], 1)
    inside = [(step, label) for step, label in marks if step <= reach * 4 / 3]
    first, last = min(steps[0], 0), max([reach, *(step for step, _ in inside)])
    lowest, highest = min(y for _, y in points), max(y for _, y in points)
    levels = _levels(min(lowest, 0.0), highest if highest > min(lowest, 0.0) else min(lowest, 0.0) + 1.0)
    low, high = levels[0], levels[-1]
    left, right, top, bottom = float(_LEFT), float(WIDTH - _RIGHT), float(_TOP), float(HEIGHT - _BOTTOM)

    def across(x: float) -> float:
        return round(left + (right - left) * (x - first) / max(last - first, 1), 1)

    def down(y: float) -> float:
        return round(bottom - (bottom - top) * (y - low) / (high - low), 1)

    dots = tuple((across(x), down(y)) for x, y in points)
    return Curve(
        points=" ".join(f"{x},{y}" for x, y in dots),
        dots=dots if len(dots) <= 24 else (),
        across=tuple(Tick(at=across(step), label=f"{step:,}") for step in _steps(first, last)),
        down=tuple(Tick(at=down(y), label=f"{y:.3g}") for y in levels),
        marks=tuple(_placed([(across(step), label) for step, label in inside], left, right)),
        beyond=tuple(f"{label} ({step:,})" for step, label in marks if (step, label) not in inside),
        title=f"{what}: {points[0][1]:.4g} at step {points[0][0]:,}, at most {highest:.4g}, "
        f"{points[-1][1]:.4g} at step {points[-1][0]:,}",
        left=left,
        right=right,
        top=top,
        bottom=bottom,
    )


def _placed(marks: list[tuple[float, str]], left: float, right: float) -> Iterator[Mark]:
    """Yield marks with their labels on two rows, to the left of their line where the right has no room."""
    ends = [left, left]
    for at, label in marks:
        length = len(label) * _LETTER
        begins = at + 4 if at + 4 + length <= right else at - 4 - length
        row = 0 if begins >= ends[0] else 1
        ends[row] = begins + length + 6
        is_right = begins > at
        yield Mark(
            at=at,
            text_at=at + 4 if is_right else at - 4,
            text_row=float(_TOP - 18 + 12 * row),
            anchor="start" if is_right else "end",
            label=label,
        )


def _steps(first: int, last: int) -> list[int]:
    """Return round steps from the first to the last."""
    stride = max(1, math.ceil(_nice((last - first) / _TICKS)))
    return list(range(math.ceil(first / stride) * stride, last + 1, stride))


def _levels(low: float, high: float) -> list[float]:
    """Return round numbers that begin at or below the lowest and end at or above the highest."""
    stride = _nice((high - low) / _TICKS)
    return [number * stride for number in range(math.floor(low / stride), math.ceil(high / stride - 1e-9) + 1)]


def _nice(raw: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is not below ``raw``."""
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    return next((factor * power for factor in (1, 2, 5) if factor * power >= raw * 0.999), 10 * power)
