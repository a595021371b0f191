"""Checks the project, part by part, and reports the time of each step.

  ./test            everything, as CI does
  ./test NAME...    these parts, with what they need
  ./test --list     the parts: the contents, the needs and the duration of each; with --json after
                    it only the names
  ./test quick      the parts that need no other systems and no installation

FEROS_FUZZ_SECONDS (5) is the time per fuzz target. After FEROS_TEST_MINUTES (no limit), the parts
zenoh and fuzz are left out if they have not begun, and the end of the output names them.
"""

import json
import os
import signal
import sys
import time

import leftovers
import parts
import rust_tests
import schedule
import table


def list_parts():
    """Prints the list of parts."""
    usual = table.usual()
    print(f"{'PART':<9} {'ALONE':>12}  WHAT")
    for part in [*parts.PARTS, parts.QUICK]:
        steps = parts.wanted([part.name])
        seconds = sum(usual.get(step.name, 0) for step in steps)
        needs = "what scripts/setup.sh --lab installs" if any(s.lane == parts.SETUP for s in steps) else "Rust, Python"
        print(f"{part.name:<9} {table.minutes(seconds):>12}  {part.what}; needs {needs}")


def run(names):
    """Runs these parts; returns the exit code."""
    parts.RESULTS.mkdir(parents=True, exist_ok=True)
    # In a shell in which `.venv` is active, the Python of Jazzy would find the libraries of Kilted.
    rust_tests.forget_own_ros2(os.environ, sys.prefix)
    os.environ |= parts.CARGO | parts.TOOLS
    steps = parts.wanted(names)
    plan = schedule.Schedule(steps, table.usual(), 60 * float(os.environ.get("FEROS_TEST_MINUTES", "inf")))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: plan.stop())
    leftovers.adopt_orphans()
    before = leftovers.Before()
    before.watch()
    began = time.monotonic()
    passed = plan.run()
    results = list(plan.results.values())
    left = before.remove_new()
    table.keep(results, time.monotonic() - began, left)
    counts = table.total(results)
    # Who sees only the end of the output, such as CI's record, sees each failure.
    for result in results:
        if result.state == schedule.FAILED:
            lines = "".join(f"\n    | {line}" for line in result.failures)
            print(f"\nfailed: {result.step.name}: {result.reason}{lines}")
        elif result.state == schedule.LEFT_OUT:
            print(f"\nleft out: {result.step.name}: {result.reason}")
    # CI parses the numbers of tests from this line.
    print(f"\ntests: {counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 0 if passed else 1


def main(names):
    known = [part.name for part in parts.PARTS]
    unknown = [name for name in names if name not in [*known, parts.QUICK.name]]
    if names == ["--list"]:
        list_parts()
        return 0
    if names == ["--list", "--json"]:
        print(json.dumps(known))
        return 0
    if names in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if unknown:
        print(f"test: error: unknown part {unknown[0]} (known: {', '.join(known)}, quick; or --list)", file=sys.stderr)
        return 2
    return run(names or known)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
