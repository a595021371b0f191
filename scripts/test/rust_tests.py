#!/usr/bin/env python3
"""Builds Rust tests, and runs each in a separate process.

    scripts/test/rust_tests.py build BUILD   compiles tests, with clippy as the compiler: one pass
                                             that lints and builds the programs
    scripts/test/rust_tests.py run SUITE     runs tests of a build with cargo-nextest

`cargo clippy` and `cargo test` would each compile all of our crates. The driver of clippy is a
whole compiler, so one build serves both; its results are separate from those of `cargo test`. A
test that fails runs once more, alone, when all others have ended: the table then names it, and it
still has to be fixed. More than eight failures count as failures without a second run.
"""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import parts

MOST_RUN_AGAIN = 8
# The wheels of ROS 2 make their Python set these variables for itself and start again. Programs of
# another ROS 2 must not inherit them.
STARTED_AGAIN, LIBRARIES = "_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH"
LISTS = parts.RESULTS / "rust"
# The folder in which a test builds packages as users do (crates/tools/cli/tests/component_build). Its
# 700 MB would save the next run a minute.
PACKAGES_OF_USERS = parts.TARGET / "tmp" / "component_build"


def forget_own_ros2(environment, prefix):
    """Removes from an environment what the wheels of the Python at `prefix` have set."""
    if environment.pop(STARTED_AGAIN, None):
        paths = environment.pop(LIBRARIES, "").split(os.pathsep)
        others = [path for path in paths if path and not path.startswith(prefix)]
        if others:
            environment[LIBRARIES] = os.pathsep.join(others)


def files_of(build):
    """Returns the files that list the programs and the packages of a build."""
    return LISTS / f"{build}.binaries.json", LISTS / f"{build}.packages.json"


def build(name):
    """Compiles the tests of a build, and writes the lists of programs and packages."""
    LISTS.mkdir(parents=True, exist_ok=True)
    binaries, packages = files_of(name)
    choice = parts.BUILDS[name]
    environment = os.environ | parts.LINTED | choice.environment
    cargo = ["--locked", f"--manifest-path={choice.manifest}"]
    subprocess.run(["cargo", "build", "--timings", *cargo, *choice.compiled], check=True, env=environment)
    with packages.open("wb") as output:
        command = ["cargo", "metadata", "--format-version=1", *cargo]
        subprocess.run(command, check=True, env=environment, stdout=output)
    with binaries.open("wb") as output:
        command = ["cargo-nextest", "nextest", "list", *cargo, *choice.tested]
        command += ["--list-type=binaries-only", "--message-format=json"]
        subprocess.run(command, check=True, env=environment, stdout=output)
    return 0


def nextest(name, *arguments):
    """Runs tests of a suite; returns the exit code and the path of the report."""
    suite = parts.SUITES[name]
    binaries, packages = files_of(suite.build)
    command = ["cargo-nextest", "nextest", "run", "--no-fail-fast", f"--profile={name}"]
    command += [f"--binaries-metadata={binaries}", f"--cargo-metadata={packages}"]
    command += [f"--config-file={parts.REPOSITORY / '.config' / 'nextest.toml'}"]
    # nextest's folder is relative to that of the packages, even if cargo's target folder is
    # elsewhere.
    folder = parts.BUILDS[suite.build].manifest.parent / "target" / "nextest" / name
    written = folder / "junit.xml"
    written.unlink(missing_ok=True)
    environment = os.environ | parts.BUILDS[suite.build].environment | suite.environment
    for wheel in (parts.TARGET / "wheels-dev").glob("feros-*.whl"):
        environment["FEROS_LAB_WHEEL"] = str(wheel)  # so that tests of the laboratory build none
    return subprocess.run([*command, *arguments], env=environment).returncode, written


def failed_tests(report):
    """Returns the failed tests of a report: the name of the program, and the name of the test."""
    tests = xml.etree.ElementTree.parse(report).iter("testcase")
    return [(t.get("classname"), t.get("name")) for t in tests if t.find("failure") is not None]


def run(name):
    """Runs all tests of a suite, and failed ones once more."""
    code = run_and_repeat(name)
    if name == "workspace":  # the only suite with this test
        shutil.rmtree(PACKAGES_OF_USERS, ignore_errors=True)
    return code


def run_and_repeat(name):
    """Runs all tests of a suite, and failed ones once more; returns the exit code."""
    report = parts.report_of(name)
    report.unlink(missing_ok=True)
    code, written = nextest(name, "--filterset", parts.SUITES[name].filter)
    if not written.is_file():
        print(f"rust_tests: error: cargo-nextest wrote no {written}", file=sys.stderr)
        return code or 1
    shutil.copyfile(written, report)
    failed = failed_tests(report) if code != 0 else []
    if not 0 < len(failed) <= MOST_RUN_AGAIN:
        return code
    print("\nfailed, run once more, alone:", *map(" ".join, failed), sep="\n    ", flush=True)
    these = " | ".join(f"(binary_id(={program}) & test(={test}))" for program, test in failed)
    code, _ = nextest(name, "--test-threads=1", "--filterset", these)
    if code == 0:
        for program, test in failed:
            print(f"run again: {program} {test}")
    return code


def main(arguments):
    kinds = {"build": (build, parts.BUILDS), "run": (run, parts.SUITES)}
    if len(arguments) == 2 and arguments[0] in kinds:
        action, names = kinds[arguments[0]]
        if arguments[1] in names:
            return action(arguments[1])
    print(__doc__, f"\nBuilds: {', '.join(parts.BUILDS)}\nSuites: {', '.join(parts.SUITES)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    forget_own_ros2(os.environ, sys.prefix)
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as failed:
        sys.exit(f"rust_tests: error: exit code {failed.returncode} of {' '.join(map(str, failed.cmd))}")
