"""Finds, in a step's output, the numbers of tests that passed, failed, were skipped, and were run
again, and the lines that tell of failures."""

import dataclasses
import re
import xml.etree.ElementTree


@dataclasses.dataclass
class Counts:
    """The numbers of tests, and the names of those that were run again."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    run_again: list = dataclasses.field(default_factory=list)

    def __add__(self, other):
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.run_again + other.run_again,
        )


def of_libtest(said):
    """Reads the output of `cargo test`: one line for each program, and one for the examples of each crate."""
    found = Counts()
    pattern = r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;"
    for passed, failed, _ in re.findall(pattern, said, re.M):
        found += Counts(int(passed), int(failed))
    return found


def of_pytest(said):
    """Reads the last line of pytest, and the lines of pytest-rerunfailures (`pytest -rR`)."""
    lines = re.findall(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s", said, re.M)
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", lines[-1] if lines else "")}
    failed = numbers.get("failed", 0) + numbers.get("error", 0) + numbers.get("errors", 0)
    again = sorted(set(re.findall(r"^RERUN (\S+)", said, re.M)) - set(re.findall(r"^FAILED (\S+)", said, re.M)))
    return Counts(numbers.get("passed", 0), failed, numbers.get("skipped", 0), again)


def of_node(said):
    """Reads the summary of Node.js's test runner."""
    numbers = {word: int(number) for word, number in re.findall(r"^\S+ (pass|fail|skipped) (\d+)$", said, re.M)}
    return Counts(numbers.get("pass", 0), numbers.get("fail", 0), numbers.get("skipped", 0))


def of_unittest(said):
    """Reads the last lines of Python's unittest."""
    ran = re.findall(r"^Ran (\d+) tests? in", said, re.M)
    failed = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", said))
    return Counts(int(ran[-1]) - failed if ran else 0, failed)


def of_lines(said):
    """Reads the output of a script that prints `N passed, N failed` itself."""
    found = Counts()
    for passed, failed in re.findall(r"^(\d+) passed, (\d+) failed$", said, re.M):
        found += Counts(int(passed), int(failed))
    return found


def of_nextest(report):
    """Reads the report of cargo-nextest in JUnit format."""
    found = Counts()
    if not report.is_file():
        return found
    for test in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{test.get('classname')} {test.get('name')}"
        if test.find("failure") is not None or test.find("error") is not None:
            found.failed += 1
        elif test.find("skipped") is None:
            found.passed += 1
            if test.find("flakyFailure") is not None or test.find("flakyError") is not None:
                found.run_again.append(name)
    return found


# How compilers and test runners begin to tell of a failure: cargo, nextest, libtest, unittest,
# pytest and Node.js.
FAILURE = re.compile(
    r"^\s*(error(\[\w+\])?:|FAIL(ED)?[ :]|(TRY \d+ )?FAIL \[|not ok |✖ |test .* FAILED$|thread '.*panicked at)"
)
LINES_AFTER, MOST_LINES = 10, 60


def failures(said):
    """Returns the lines that tell of failures, with some lines after each; the last lines of an output
    without such lines."""
    lines = said.splitlines()
    kept = {}
    for number, line in enumerate(lines):
        if FAILURE.match(line):
            kept |= dict(enumerate(lines[number : number + LINES_AFTER], number))
    told = [kept[number] for number in sorted(kept)] or lines[-LINES_AFTER:]
    return told[:MOST_LINES]


READERS = {
    "libtest": of_libtest,
    "pytest": of_pytest,
    "node": of_node,
    "unittest": of_unittest,
    "lines": of_lines,
}
