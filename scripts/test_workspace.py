#!/usr/bin/env python3
"""Runs all tests of the workspace, the `it` of all crates beside the others.

    scripts/test_workspace.py

Most tests wait for other processes, so that two runs beside each other take little more than half
the time of one after the other. What a run says comes whole, one run after the other; every failure
is named, and the exit code is 1 when there is one. Examples of the documentation come last.
"""

import json
import subprocess
import sys
import tempfile

CARGO_TEST = ["cargo", "test", "--workspace", "--locked", "--no-fail-fast"]
# The one test target that most crates have; it takes as long as all others together.
BESIDE = "it"


def other_targets():
    """The names of all test targets but that one."""
    words = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    packages = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    # What needs a feature that is not on is no part of this run, as with `cargo test`.
    names = {
        target["name"]
        for package in packages
        for target in package["targets"]
        if "test" in target["kind"] and target["test"] and not target.get("required-features")
    }
    return sorted(names - {BESIDE})


def main():
    # Built as one, so that no run waits for the other's compiler.
    if subprocess.run([*CARGO_TEST, "--no-run"]).returncode != 0:
        return 1
    others = ["--lib", "--bins", "--examples"]
    for name in other_targets():
        others += ["--test", name]
    with tempfile.TemporaryFile() as said:
        beside = subprocess.Popen(CARGO_TEST + ["--test", BESIDE], stdout=said, stderr=subprocess.STDOUT)
        codes = [subprocess.run(CARGO_TEST + others).returncode, beside.wait()]
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    codes.append(subprocess.run([*CARGO_TEST, "--doc"]).returncode)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
