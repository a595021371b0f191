"""The table of a run: the time of each step, and the results of the tests."""

import json
import os

import counts
import parts
import schedule

FILE = parts.RESULTS / "table.md"
NUMBERS = parts.RESULTS / "steps.json"
# The file with the numbers of the run whose table CONTRIBUTING.md shows.
RECORDED = parts.REPOSITORY / "scripts" / "test" / "usual.json"


def minutes(seconds):
    """Formats seconds as in `4 min 07 s`."""
    seconds = round(seconds)
    return f"{seconds // 60} min {seconds % 60:02} s" if seconds >= 60 else f"{seconds} s"


def rows(results):
    """Yields the rows of the table, one for each step, in the order of the list."""
    yield "| step | building s | running s | processor s | passed | failed | skipped | again |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for result in results:
        if result.state in (schedule.NOT_RUN, schedule.LEFT_OUT):
            yield f"| {result.step.name} | | | | | | | {result.state}: {result.reason} |"
            continue
        is_building = result.step.lane in (parts.SETUP, parts.BUILD)
        building = f"{result.seconds:.0f}" if is_building else ""
        running = "" if is_building else f"{result.seconds:.0f}"
        numbers = result.tests
        cells = [numbers.passed, numbers.failed, numbers.skipped, len(numbers.run_again)]
        told = " | ".join(str(cell or "") for cell in cells)
        failed = "" if result.state == schedule.PASSED else f" **{result.state}**"
        yield (
            f"| {result.step.name}{failed} | {building} | {running} "
            f"| {result.processor_seconds:.0f} | {told} |"
        )


def total(results):
    """Returns the sum of all counts of tests."""
    return sum((result.tests for result in results), counts.Counts())


def text(results, seconds, left):
    """The whole table, as Markdown."""
    processor = sum(result.processor_seconds for result in results)
    lines = [*rows(results), ""]
    lines.append(f"{minutes(seconds)}, and {minutes(processor)} of the processors.")
    skips = [skip for result in results for skip in result.skips]
    again = total(results).run_again
    for title, entries in (("Skipped", skips), ("Passed only when run again", again), ("Left behind", left)):
        if entries:
            lines += ["", f"{title}:", "", *(f"- {entry}" for entry in entries)]
    return "\n".join(lines)


def keep(results, seconds, left):
    """Prints the table, and writes it to files."""
    written = text(results, seconds, left)
    FILE.write_text(written + "\n")
    numbers = {r.step.name: round(r.seconds, 1) for r in results if r.state == schedule.PASSED}
    NUMBERS.write_text(json.dumps(usual() | numbers, indent=1) + "\n")
    print(f"\n{written}\n\nThis table is in {os.path.relpath(FILE, parts.REPOSITORY)}, with the output of each step beside it.")


def usual():
    """Returns the seconds that each step took when it last ran on this machine or, if it never did,
    on the machine of the table in CONTRIBUTING.md."""
    found = {}
    for file in (RECORDED, NUMBERS):
        try:
            found |= json.loads(file.read_text())
        except (OSError, ValueError):
            continue
    return found
