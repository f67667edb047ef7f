"""Measure the product: ``make bench``, or ``python -m tests.bench --help``.

Every case is measured in several rounds, with the other cases between them, and the round with the
least CPU per request counts: whatever else the machine does can only add to it. Prints one table
and fails only when something went wrong, never because it was slow.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace

import django
import orjson

from tests.bench.cases import CASES, SOCKETS, Effort, Figures
from tests.bench.shapes import SHAPES

HEADINGS = ("shape", "case", "per s", "p50 ms", "p99 ms", "CPU ms", "DB CPU ms", "x floor")


def main() -> int:
    """Run the chosen cases in the chosen shapes; returns the exit code."""
    options = _options()
    effort = Effort(
        seconds=options.seconds, connections=options.connections, sockets=options.sockets
    )
    figures = [
        line
        for shape in options.shape
        for line in measure_shape(shape, options.case, effort, options.rounds)
    ]
    if options.json:
        found = {"machine": machine(), "figures": [asdict(line) for line in figures]}
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        print(f"{machine()}\n\n{table(figures)}")
    errors = [f"{f.shape}, {f.case}: {error}" for f in figures for error in f.errors]
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


def machine() -> str:
    """Return what the figures depend on; a high load says that they are too high as well."""
    return (
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}, Django {django.get_version()}"
    )


def measure_shape(name: str, cases: Sequence[str], effort: Effort, rounds: int) -> list[Figures]:
    """Start the product in one shape, measure the cases in every round, and stop it.

    Returns the best round of each case, with the errors of all of them.
    """
    best: dict[str, Figures] = {}
    errors: dict[str, list[str]] = {case: [] for case in cases}
    with SHAPES[name]() as shape:
        for number in range(rounds):
            for case in cases:
                print(f"{name}, round {number + 1}: {case}", file=sys.stderr, flush=True)
                shape.settle()
                found = CASES[case](shape, effort)
                errors[case] += found.errors
                best[case] = min(best.get(case, found), found, key=_cost)
    figures = [replace(best[case], errors=errors[case]) for case in cases]
    _add_ratios(figures)
    return figures


def _cost(line: Figures) -> float:
    return line.cpu_ms + line.database_cpu_ms


def _add_ratios(figures: list[Figures]) -> None:
    floor = next((f for f in figures if f.case == "floor"), None)
    for line in figures:
        # A delivery is no request, so a ratio to one would say nothing.
        if floor is not None and line.case != "fan-out":
            line.ratio = _cost(line) / _cost(floor) if _cost(floor) else None


def table(figures: Sequence[Figures]) -> str:
    """Return the figures as a table of text."""
    rows = [HEADINGS, *(_cells(line) for line in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    notes = [f"{line.shape}, {line.case}: {line.note}" for line in figures if line.note]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", *notes])


def _cells(line: Figures) -> tuple[str, ...]:
    return (
        line.shape,
        line.case,
        f"{line.per_second:,.0f}",
        f"{line.p50_ms:.1f}",
        f"{line.p99_ms:.1f}",
        f"{line.cpu_ms:.3f}",
        f"{line.database_cpu_ms:.3f}",
        f"{line.ratio:.2f}" if line.ratio is not None else "",
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--shape", action="append", choices=list(SHAPES))
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--rounds", type=int, default=3, help="the best one counts (default 3)")
    parser.add_argument("--seconds", type=float, default=4.0, help="per case and round (default 4)")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--sockets", type=int, default=SOCKETS, help="of the fan-out")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args()
    options.shape = options.shape or list(SHAPES)
    options.case = options.case or list(CASES)
    return options


if __name__ == "__main__":
    sys.exit(main())
