#!/usr/bin/env python3
"""Draws the README's figures of one-way latency from the results of laboratory runs.

    scripts/latency_figure.py RUN_FOLDER    copies the numbers of a run (RUN_FOLDER is the `--out`
                                            of `feros lab run`) to docs/figures/*.json, for each
                                            figure whose scenario the run contains; then draws the
                                            figures
    scripts/latency_figure.py               draws docs/figures/*.svg from these numbers
    scripts/latency_figure.py --check       checks whether the figures match the numbers
"""

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent.parent / "docs/figures"
PLACEMENT = "local"  # two processes of one host
SIZES = {256: "256 B", 1 << 20: "1 MB"}


@dataclass
class Figure:
    name: str
    scenario: str
    title: str
    systems: dict[str, str]

    @property
    def numbers(self):
        return FOLDER / f"{self.name}.json"

    @property
    def image(self):
        return FOLDER / f"{self.name}.svg"


FIGURES = [
    Figure(
        "latency",
        "readme",
        "One-way latency between two processes of one host",
        {
            "feros": "Feros",
            "cyclonedds": "Cyclone DDS, C",
            "roscpp": "ROS 1 (roscpp)",
            "rcl": "ROS 2 Kilted (rcl)",
        },
    ),
    Figure(
        "rmw",
        "readme-rmw",
        "Stock programs, one-way latency between processes",
        {
            "rcl:feros": "rcl, rmw_feros",
            "rcl": "rcl, stock",
            "rclpy:feros": "rclpy, rmw_feros",
            "rclpy": "rclpy, stock",
        },
    ),
]

WIDTH, LEFT, RIGHT = 860, 150, 110
ROW, HEAD, FOOT = 34, 58, 44
LOW, HIGH = 5e3, 40e3 * 1e3  # the ends of the axis, in nanoseconds

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


def read_run(figure, folder, run):
    """Returns the part of a run that a figure shows: nanoseconds, by size and system."""
    floor = floor_of(figure, run)
    sizes = {str(size): {} for size in SIZES}
    for line in (folder / "cells.jsonl").read_text().splitlines():
        cell = json.loads(line)
        dimensions = cell["dimensions"]
        system, size = dimensions.get("system"), dimensions.get("size_bytes")
        is_shown = system in figure.systems or system == floor
        wanted = is_shown and size in SIZES and dimensions.get("placement") == PLACEMENT
        is_complete = cell["status"]["ended"] == "complete"
        if cell["scenario"] != figure.scenario or not wanted or not is_complete:
            continue
        found = sizes[str(int(size))]
        if system in found:
            many = "was measured several times, but a figure can show only one repetition"
            sys.exit(f"error: {system} {many}")
        latency = cell["subscriptions"][0]["latency"]
        found[system] = {"median": latency["p50"], "p99": latency["p99"]}
    if any(system not in found for found in sizes.values() for system in figure.systems):
        missing = f"the scenario {figure.scenario} for some of {list(figure.systems)}"
        sys.exit(f"error: {folder} lacks results of {missing}")
    floors = {size: found.pop(floor)["median"] for size, found in sizes.items() if floor in found}
    return {
        "command": run["command"],
        "began_unix_seconds": run["began_unix_seconds"],
        "scenario": figure.scenario,
        "floor": {"title": title_of(run, floor), "nanos": floors} if floors else None,
        "latency_nanos": sizes,
    }


def floor_of(figure, run):
    """Returns the system whose latency is drawn as the floor line, in the figure for this
    placement."""
    scenario = next(known for known in run["scenarios"] if known["name"] == figure.scenario)
    drawn = (f for f in scenario["figures"] if f["only"].get("placement") == [PLACEMENT])
    return next((it["floor"] for it in drawn if it.get("floor")), None)


def title_of(run, system):
    title = next(known["title"] for known in run["systems"] if known["name"] == system)
    return title.split(", ", 1)[-1]


def place(nanos):
    share = math.log(nanos / LOW) / math.log(HIGH / LOW)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def shown(nanos):
    micros = nanos / 1e3
    return f"{micros:.3g} µs" if micros < 1000 else f"{micros / 1e3:.3g} ms"


def panel(top, title, rows, floor, names):
    """Draws the panel of one payload size. Each row is a line from the floor (measured in the same
    cell) to the median of a system."""
    bottom = top + 14 + len(rows) * ROW
    parts = [f'<text class="title" x="{LEFT}" y="{top}">{escape(title)}</text>']
    for nanos in (1e4, 1e5, 1e6, 1e7):
        x = place(nanos)
        parts.append(f'<path class="grid" d="M{x} {top + 10}V{bottom}"/>')
    if floor is not None:
        parts.append(f'<path class="floor" d="M{place(floor)} {top + 10}V{bottom}"/>')
        limit = f"floor {shown(floor)}</text>"
        x, y = max(place(floor), LEFT + 95), top + 4  # to the right of the title
        parts.append(f'<text class="small" x="{x}" y="{y}" text-anchor="middle">{limit}')
    for index, (system, latency) in enumerate(rows):
        y = top + 14 + ROW // 2 + index * ROW
        median, kind = latency["median"], "feros" if "feros" in system else "other"
        start, dot, tail = place(floor or LOW), place(median), place(latency["p99"])
        parts.append(
            f'<g class="{kind}"><text x="{LEFT - 12}" y="{y + 5}" text-anchor="end">'
            f"{escape(names[system])}</text>"
            f'<path class="line" d="M{start} {y}H{dot}"/><path class="tail" d="M{dot} {y}H{tail}"/>'
            f'<circle class="dot" cx="{dot}" cy="{y}" r="6"/>'
            f'<text x="{max(tail, dot + 6) + 8}" y="{y + 5}">{shown(median)}</text></g>'
        )
    return "\n".join(parts), bottom


def draw(figure, numbers):
    floor = numbers["floor"]
    parts, top = [], HEAD
    for size, title in SIZES.items():
        measured = numbers["latency_nanos"][str(size)]
        rows = [(system, measured[system]) for system in figure.systems]
        limit = floor and floor["nanos"].get(str(size))
        drawn, bottom = panel(top, title, rows, limit, figure.systems)
        parts.append(drawn)
        top = bottom + 36
    axis = top - 20
    for nanos in (1e4, 1e5, 1e6, 1e7):
        x = place(nanos)
        label = f"{shown(nanos)}</text>"
        parts.append(f'<text class="small" x="{x}" y="{axis}" text-anchor="middle">{label}')
    if floor:
        limit = f"floor: {escape(floor['title'])}, measured in the same cells"
        parts.append(f'<text class="small" x="{LEFT}" y="{axis + 22}">{limit}</text>')
    height = axis + FOOT
    head = escape(figure.title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{head}">\n<style>{STYLE}</style>\n'
        f'<text class="title" x="12" y="24">{head}</text>\n'
        f'<text class="small" x="{WIDTH - 12}" y="24" text-anchor="end">'
        "dot: median; thin line: up to the 99th percentile; logarithmic scale</text>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main():
    arguments = sys.argv[1:]
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    checks = arguments == ["--check"]
    if arguments and not checks:
        take(Path(arguments[0]))
    for figure in FIGURES:
        drawn = draw(figure, json.loads(figure.numbers.read_text()))
        if not checks:
            figure.image.write_text(drawn)
            print(f"drawn: {figure.image}")
        elif figure.image.read_text() != drawn:
            again = "Run: scripts/latency_figure.py"
            sys.exit(f"error: {figure.image} does not match its numbers. {again}")


def take(folder):
    """Takes the numbers from a run, for each figure whose scenario the run contains."""
    run = json.loads((folder / "run.json").read_text())
    scenarios = {known["name"] for known in run["scenarios"]}
    found = [figure for figure in FIGURES if figure.scenario in scenarios]
    if not found:
        wanted = [figure.scenario for figure in FIGURES]
        sys.exit(f"error: {folder} lacks all scenarios that have a figure: {wanted}")
    for figure in found:
        figure.numbers.write_text(json.dumps(read_run(figure, folder, run), indent=2) + "\n")


main()
