#!/usr/bin/env python3
"""Draws the README's figure of one-way latency from the results of a laboratory run.

    scripts/latency_figure.py [--check] [RUN_FOLDER] [SVG]

The run folder is what `feros lab run --out` wrote (docs/report, if none is given). With --check
nothing is written: the exit code says whether the SVG is what the results give.
"""

import json
import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = "m16-latency"
PLACEMENT = "local"  # two processes of one host
FLOOR = "futex between processes"
SYSTEMS = {
    "feros": "Feros",
    "cyclonedds": "Cyclone DDS, C",
    "roscpp": "ROS 1 (roscpp)",
    "rcl": "ROS 2 Kilted (rcl)",
}
SIZES = {256: "256 B", 1 << 20: "1 MB"}

WIDTH, LEFT, RIGHT = 860, 150, 110
ROW, HEAD, FOOT = 34, 58, 44
LOW, HIGH = 5e3, 40e3 * 1e3  # nanoseconds, the ends of the axis

STYLE = """
text { font: 14px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; }
.small { font-size: 12px; fill: #57606a; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.floor { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 4 3; }
.line { stroke: #8c959f; stroke-width: 3; }
.tail { stroke: #8c959f; stroke-width: 1; }
.dot { fill: #8c959f; }
.feros .line, .feros .tail { stroke: #0969da; }
.feros .dot { fill: #0969da; }
.feros text { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .grid { stroke: #3d444d; }
  .floor { stroke: #9198a1; }
  .feros .line, .feros .tail { stroke: #4493f8; }
  .feros .dot { fill: #4493f8; }
}
"""


def read_cells(folder):
    """Median and 99th percentile, nanoseconds, for each (system, size) of the scenario."""
    found = {}
    for line in (folder / "cells.jsonl").read_text().splitlines():
        cell = json.loads(line)
        dimensions = cell["dimensions"]
        key = (dimensions.get("system"), dimensions.get("size_bytes"))
        wanted = key[0] in SYSTEMS and key[1] in SIZES
        if cell["scenario"] != SCENARIO or dimensions.get("placement") != PLACEMENT or not wanted:
            continue
        if key in found:
            sys.exit(f"error: {key} was measured several times; this figure shows one repetition")
        latency = cell["subscriptions"][0]["latency"]
        found[key] = (latency["p50"], latency["p99"])
    missing = [(s, z) for s in SYSTEMS for z in SIZES if (s, z) not in found]
    if missing:
        sys.exit(f"error: {folder} has no complete cells for {missing}")
    return found


def place(nanos):
    share = math.log(nanos / LOW) / math.log(HIGH / LOW)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def shown(nanos):
    micros = nanos / 1e3
    return f"{micros:.3g} µs" if micros < 1000 else f"{micros / 1e3:.3g} ms"


def panel(top, title, rows, floor):
    """One payload size: a row for each system, from the floor to its median."""
    bottom = top + 14 + len(rows) * ROW
    parts = [f'<text class="title" x="{LEFT}" y="{top}">{escape(title)}</text>']
    for nanos in (1e4, 1e5, 1e6, 1e7):
        x = place(nanos)
        parts.append(f'<path class="grid" d="M{x} {top + 10}V{bottom}"/>')
    parts.append(f'<path class="floor" d="M{place(floor)} {top + 10}V{bottom}"/>')
    for index, (system, (median, p99)) in enumerate(rows):
        y = top + 14 + ROW // 2 + index * ROW
        start, dot, tail = place(floor), place(median), place(p99)
        parts.append(
            f'<g class="{system}"><text x="{LEFT - 12}" y="{y + 5}" text-anchor="end">'
            f"{escape(SYSTEMS[system])}</text>"
            f'<path class="line" d="M{start} {y}H{dot}"/><path class="tail" d="M{dot} {y}H{tail}"/>'
            f'<circle class="dot" cx="{dot}" cy="{y}" r="6"/>'
            f'<text x="{max(tail, dot + 6) + 8}" y="{y + 5}">{shown(median)}</text></g>'
        )
    return "\n".join(parts), bottom


def draw(folder):
    run = json.loads((folder / "run.json").read_text())
    cells = read_cells(folder)
    floor = next(f["nanos"]["p50"] for f in run["floors"] if f["name"] == FLOOR)
    parts, top = [], HEAD
    for size, title in SIZES.items():
        rows = [(system, cells[system, size]) for system in SYSTEMS]
        drawn, bottom = panel(top, title, rows, floor)
        parts.append(drawn)
        top = bottom + 36
    axis = top - 20
    for nanos in (1e4, 1e5, 1e6, 1e7):
        x = place(nanos)
        label = f"{shown(nanos)}</text>"
        parts.append(f'<text class="small" x="{x}" y="{axis}" text-anchor="middle">{label}')
    parts.append(
        f'<text class="small" x="{place(floor)}" y="{axis + 20}" text-anchor="middle">'
        f"floor: waking a thread of another process, {shown(floor)}</text>"
    )
    height = axis + FOOT
    head = "One-way latency between two processes of one host"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{head}">\n<style>{STYLE}</style>\n'
        f'<text class="title" x="12" y="24">{head}</text>\n'
        f'<text class="small" x="{WIDTH - 12}" y="24" text-anchor="end">'
        "dot: median; thin line: to the 99th percentile; logarithmic</text>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) > 2 or any(a.startswith("-") for a in arguments):
        sys.exit(__doc__)
    folder = Path(arguments[0]) if arguments else ROOT / "docs/report"
    svg = Path(arguments[1]) if len(arguments) > 1 else ROOT / "docs/figures/latency.svg"
    drawn = draw(folder)
    if "--check" in sys.argv:
        if not svg.is_file() or svg.read_text() != drawn:
            sys.exit(f"error: {svg} is not what {folder} gives. Run: scripts/latency_figure.py")
        return
    svg.write_text(drawn)
    print(f"drawn: {svg}")


main()
