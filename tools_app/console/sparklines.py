"""Small charts as SVG paths, drawn on the server so that they can be read without script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 240.0
HEIGHT = 48.0
PADDING = 2.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """``line`` and ``area`` are SVG path data on a canvas of ``WIDTH`` × ``HEIGHT`` units."""

    line: str
    area: str
    highest: float
    last: float
    width: float = WIDTH
    height: float = HEIGHT


def sparkline(values: Sequence[float | None]) -> Sparkline:
    """Draw the values from left to right on a scale from 0 to the highest; gaps count as 0."""
    numbers = [float(value or 0) for value in values] or [0.0]
    highest = max(*numbers, 0.0) if len(numbers) > 1 else max(numbers[0], 0.0)
    step = WIDTH / max(len(numbers) - 1, 1)
    span = HEIGHT - 2 * PADDING
    points = [
        (index * step, HEIGHT - PADDING - (span * number / highest if highest else 0.0))
        for index, number in enumerate(numbers)
    ]
    if len(points) == 1:
        points.append((WIDTH, points[0][1]))
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    area = f"{line}L{WIDTH:.1f} {HEIGHT:.1f}L0 {HEIGHT:.1f}Z"
    return Sparkline(line, area, highest, numbers[-1])
