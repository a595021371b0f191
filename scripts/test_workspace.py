#!/usr/bin/env python3
"""Runs all tests of the workspace, the targets called `it` beside the others.

    scripts/test_workspace.py

Most tests wait for other processes, so that two runs beside each other take little more than half
the time of one after the other. What a run says comes whole, one run after the other; every failure
is named, and the exit code is 1 when there is one. Examples of the documentation come last.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

CARGO_TEST = ["cargo", "test", "--workspace", "--locked", "--no-fail-fast"]
# The one test target that most crates have; those take as long as all others together.
BESIDE = "it"
RUN_TEST_PROGRAM = str(pathlib.Path(__file__).resolve().with_name("run_test_program.py"))


def runner_variable():
    """The variable that has cargo start test programs by another program (as in `./test`)."""
    words = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    host = next(line.split()[1] for line in words.splitlines() if line.startswith("host:"))
    return f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER"


def run_by_cargo(which, program, arguments):
    """What cargo starts for each test program: the program, or nothing when the other run has it.

    Cargo cannot choose so by itself: a target named with `--test` is an error where it needs a
    feature that is off, and a choice of packages is one of features too, and another build.
    """
    is_beside = pathlib.Path(program).name.rpartition("-")[0] == BESIDE
    if is_beside == (which == "beside"):
        os.execv(RUN_TEST_PROGRAM, [RUN_TEST_PROGRAM, program, *arguments])


def main():
    # Built as one, so that no run waits for the other's compiler.
    if subprocess.run([*CARGO_TEST, "--no-run"]).returncode != 0:
        return 1
    variable = runner_variable()
    tests = [*CARGO_TEST, "--lib", "--bins", "--tests", "--examples"]

    def environment(which):
        return os.environ | {variable: f"{pathlib.Path(__file__).resolve()} {which}"}

    with tempfile.TemporaryFile() as said:
        beside = subprocess.Popen(tests, env=environment("beside"), stdout=said, stderr=subprocess.STDOUT)
        codes = [subprocess.run(tests, env=environment("others")).returncode, beside.wait()]
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    codes.append(subprocess.run([*CARGO_TEST, "--doc"]).returncode)
    return int(any(codes))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run_by_cargo(*sys.argv[1:3], sys.argv[3:])
    else:
        sys.exit(main())
