#!/usr/bin/env python3
"""Runs a test program as cargo's runner; tests of it that fail run once more, alone.

    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=scripts/run_test_program.py cargo test …

Tests with real peers share two processors with each other and with strangers, and a peer may answer
later than the test waits. A test that passes alone is not hidden: it is named here, and again at the
end of `./test` by the file that FEROS_TESTS_RUN_AGAIN names. It is to be mended all the same. More
than three failures of a program, a crash and a hang are failures at once.
"""

import os
import re
import subprocess
import sys
import threading

MOST_RUN_AGAIN = 3


def run(program, arguments):
    """Runs it; its exit code, and what it printed, which is printed as it comes."""
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE)
    said = bytearray()

    def read():
        while piece := os.read(process.stdout.fileno(), 65536):
            said.extend(piece)
            sys.stdout.buffer.write(piece)
            sys.stdout.flush()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    code = process.wait()
    reader.join(5)  # what a test has left behind may hold its output open
    return code, said.decode(errors="replace")


def failed_tests(said):
    """The tests that libtest names as failed, from the list at its end."""
    names = re.search(r"\nfailures:\n((?: {4}\S.*\n)+)\ntest result: FAILED", said)
    return names[1].split("\n")[:-1] if names else []


def end_as(code):
    """Ends as a program did whose exit code this is, by a signal too."""
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


def main(program, arguments):
    for variable in list(os.environ):
        if variable.startswith("CARGO_TARGET_") and variable.endswith("_RUNNER"):
            del os.environ[variable]  # what a test builds and starts is not run by this
    code, said = run(program, arguments)
    failed = [name.strip().removesuffix(" - should panic") for name in failed_tests(said)]
    if code == 0 or not 0 < len(failed) <= MOST_RUN_AGAIN:
        end_as(code)
    lines = [f"{os.path.basename(program).rpartition('-')[0]} {name}" for name in failed]
    print("\nfailed, run once more, alone:", *lines, sep="\n    ", flush=True)
    code, _ = run(program, ["--exact", "--test-threads=1", *failed])
    if code == 0 and (list_of_all := os.environ.get("FEROS_TESTS_RUN_AGAIN")):
        with open(list_of_all, "a") as file:
            file.writelines(line + "\n" for line in lines)
    end_as(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
