#!/usr/bin/env python3
"""Counts the cost of one message between two processes, for a publisher and a subscription.

    scripts/count_message.py                        Feros
    scripts/count_message.py --systems all          and raw iceoryx2 and iceoryx beside it
    scripts/count_message.py --check                fails where Feros needs more than BOUNDS allows
    scripts/count_message.py --check --counted      the same for the profile `counted`, like ./test

The script counts instructions, and the different cache lines of code and cache lines of data that
a message touches (the columns CODE and DATA; LINES is their sum). Times depend on the machine and
its load; these numbers depend on the code alone. A rare message finds the processor's caches cold,
and pays for each cache line.

The publisher (talker) and the subscription (listener) are programs of the laboratory (lab/). The
measured one of them runs under callgrind, and the other one does not. Before each message, the
measured program reads so much memory that the simulated cache holds nothing else (FEROS_LAB_COLD),
so each cache line is missed once. The laboratory's own functions, which time the messages, record
them and clear the cache, are not counted. The script subtracts two runs of different length, so
start and end cancel out. The kernel is not counted.

Instructions are only printed for talkers, whose loop is counted from its start to its end. For a
listener, the whole thread is counted. The thread waits and polls a different number of times in
each run, so the difference of the instructions of two runs means nothing. A listener's numbers of
cache lines are right, because repeated work finds its lines in the cache.
"""

import argparse
import contextlib
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
PEERS = REPOSITORY / "lab" / "peers"

# The limits on instructions and cache lines per message. A change of the code may lower them, and
# has to give a reason if it raises them. A release is optimized as a whole, which takes three
# minutes. ./test optimizes each crate separately (profile `counted`), and has its own limits.
BOUNDS = {
    # profile: {(system, side): (instructions, cache lines of code, cache lines of data)}
    # Only talkers have a limit on instructions.
    "release": {
        ("feros:built", "talker"): (1750, 140, 68),
        ("feros:built", "listener"): (None, 280, 140),
    },
    "counted": {
        ("feros:built", "talker"): (2385, 182, 90),
        ("feros:built", "listener"): (None, 354, 195),
    },
}
# The factors by which the measured instructions, cache lines of code and cache lines of data may
# exceed the bounds. The cache lines of code are equal in each run of one build, but differ between
# builds due to the linker's layout: the same talker had 138 and 145. Their factor covers this and
# another C library. In each run, data has different addresses, and so takes more or fewer cache
# lines: nine runs of one program had 63 to 69 for the talker and 132 to 150 for the listener, and
# 1689 to 1804 instructions.
LEEWAY = (1.07, 1.06, 1.2)

SYSTEMS = {
    "feros:built": ["--form", "built", "--transport", "shared_memory"],
    "feros": ["--transport", "shared_memory"],
    "feros:raw": ["--form", "raw", "--transport", "shared_memory"],
    "iceoryx2": [],
    "iceoryx": [],
}
MESSAGES = (50, 250)
WARM_UP = 20
RATE_HZ = 40
SIZE_BYTES = 256
# A program is slow while valgrind translates it for the first time, and would overflow a shorter
# queue.
DEPTH = 100
SECONDS = 120
ATTEMPTS = 5
# The functions of a talker that are counted: its loop, from the beginning to the end.
COUNTED = ["*send_all*", "*publish_all*"]
# The laboratory's own functions, which are left out.
LEFT_OUT = re.compile(
    r"cold::make_cold|pace::Pace|Samples::note|Published::note"
    r"|contract_make_cold|contract_pace_next|contract_note_(received|seen|published)"
)
# The first-level caches have two lines, so that each access goes to the last level. That level is
# large enough for all cache lines that one message touches.
CALLGRIND = [
    "valgrind",
    "--tool=callgrind",
    "--separate-threads=yes",
    "--cache-sim=yes",
    "--I1=128,2,64",
    "--D1=128,2,64",
    "--LL=2097152,32,64",
]


def build(system, profile):
    """Returns the program of a system."""
    name = system.split(":")[0]
    if name == "iceoryx":
        out = TARGET / "count" / name
        out.mkdir(parents=True, exist_ok=True)
        command = [PEERS / name / "build"]
        subprocess.run(command, check=True, env=dict(os.environ, FEROS_LAB_OUT=str(out)))
        return out / name
    package = f"feros-lab-{name}"
    command = ["cargo", "build", f"--profile={profile}", "--locked", "--quiet", "-p", package]
    subprocess.run(command, check=True, cwd=REPOSITORY)
    return TARGET / profile / package


class Failed(Exception):
    pass


class Program:
    """A system under test in one role. Its output is read line by line, as it arrives."""

    def __init__(self, command, environment):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        self.lines = []
        self.errors = []
        self.is_ready = threading.Event()
        self.threads = [
            threading.Thread(target=self.read, daemon=True),
            threading.Thread(target=self.read_errors, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith('{"ready"'):
                self.is_ready.set()
        self.is_ready.set()

    def read_errors(self):
        self.errors.extend(self.process.stderr)

    def stop(self):
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()

    def end(self):
        """Waits for the end of the program; returns the number of received messages."""
        try:
            self.process.wait(SECONDS)
        finally:
            self.stop()
        said = "".join(self.lines[-1:] + self.errors[-5:])
        if self.process.returncode != 0 or not self.lines[-1].startswith('{"end"'):
            raise Failed(f"a program ended with {self.process.returncode}: {said}")
        return re.search(r'"received":\[(\d*)', self.lines[-1]).group(1)


@contextlib.contextmanager
def daemon(system):
    """Runs the daemon that a system needs: RouDi, which owns iceoryx's memory."""
    if system != "iceoryx":
        yield
        return
    command = ["iox-roudi", "-c", PEERS / "iceoryx" / "roudi.toml"]
    roudi = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        if not any("RouDi is ready" in line for line in roudi.stdout):
            raise Failed("RouDi does not start; is there another one?")
        yield
    finally:
        roudi.terminate()
        roudi.wait()


def run(system, program, side, count, out):
    """Runs talker and listener once, with `side` under callgrind. Returns the number of messages."""
    environment = dict(
        os.environ,
        FEROS_LAB_RUN=f"count_{os.getpid()}",
        ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST",
        ROS_DOMAIN_ID=str(1 + os.getpid() % 19),  # tests reserve those from 20 on
    )
    common = ["--placement", "local", "--topic", "count", "--type", "bytes"]
    common += ["--size", str(SIZE_BYTES), "--count", str(count), "--warm-up", str(WARM_UP)]
    common += ["--depth", str(DEPTH), "--timeout", str(SECONDS), *SYSTEMS[system]]

    def start(role, *arguments):
        command = [program, "--role", role, *common, *arguments]
        if role != side:
            return Program(command, environment)
        counted = [*CALLGRIND, f"--callgrind-out-file={out}"]
        if side == "talker":
            counted += ["--collect-atstart=no", *(f"--toggle-collect={name}" for name in COUNTED)]
        return Program(counted + command, dict(environment, FEROS_LAB_COLD="1"))

    listener = start("listener", "--index", "0")
    try:
        listener.is_ready.wait(SECONDS)
        talker = start("talker", "--rate", str(RATE_HZ), "--matched", "1")
        talker.end()
        received = int(listener.end())
    finally:
        listener.stop()  # otherwise the next attempt's talker would find this listener
    if received < count:
        raise Failed(f"{system}: {received} of {count + WARM_UP} messages came")
    return count + WARM_UP if side == "talker" else received


def totals(file):
    """Returns the sums of one thread by event. Section 10 of callgrind's manual describes the format."""
    events, names, sums = [], {}, {}
    is_left_out = is_call = False
    for line in file.open():
        if line.startswith("events:"):
            events = line.split()[1:]
            sums = dict.fromkeys(events, 0)
        elif named := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            number, name = named.groups()
            names[number] = name or names.get(number, "")  # some functions have no name
            if line.startswith("fn"):
                is_left_out = LEFT_OUT.search(names[number]) is not None
        elif line.startswith("calls="):
            is_call = True  # the next line has the cost of the called function
        elif line[0] in "+-*0123456789" and events:
            if not is_call and not is_left_out:
                for event, cost in zip(events, line.split()[1:]):
                    sums[event] += int(cost)
            is_call = False
    return sums


def measure(system, program, side, folder):
    """Returns instructions (`None` for a listener), cache lines of code and cache lines of data per
    message, of the thread that handles it."""
    messages, threads = [], []
    for count in MESSAGES:
        out = folder / f"{side}-{count}"
        messages.append(run(system, program, side, count, out))
        files = sorted(map(pathlib.Path, glob.glob(f"{out}-*")))
        threads.append([totals(file) for file in files])
    more = messages[1] - messages[0]
    found = []
    for short, long in zip(*threads):
        each = {name: (long[name] - short.get(name, 0)) / more for name in long}
        code = each.get("ILmr", 0)
        data = each.get("DLmr", 0) + each.get("DLmw", 0)
        found.append((each.get("Ir", 0), code, data))
    instructions, code, data = max(found, key=lambda thread: thread[1] + thread[2])
    return instructions if side == "talker" else None, code, data


def measure_patiently(system, program, side, folder):
    """Like `measure`, but tries again: on a busy machine, two programs may not find each other in time."""
    for attempt in range(ATTEMPTS):
        try:
            with daemon(system):
                return measure(system, program, side, folder)
        except Failed as failure:
            print(f"run again: {system} {side}, attempt {attempt + 1} of {ATTEMPTS}: {failure}")
    sys.exit(f"error: {system} {side} was not measured")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", default="feros:built,feros", help="names, or `all`")
    parser.add_argument("--check", action="store_true", help="compare with the bounds")
    parser.add_argument("--counted", action="store_true", help="optimize less than a release")
    parser.add_argument("--build", action="store_true", help="compile the programs, and stop")
    parser.add_argument("--program", help="measure this program of Feros instead of building one")
    parser.add_argument("--keep", type=pathlib.Path, help="keep callgrind's files in this folder")
    options = parser.parse_args()
    systems = list(SYSTEMS) if options.systems == "all" else options.systems.split(",")
    profile = "counted" if options.counted else "release"
    if options.build:
        for system in systems:
            build(system, profile)
        return
    if shutil.which("valgrind") is None:
        sys.exit("error: valgrind is not installed; scripts/setup.sh --lab installs it")
    failed = []
    print(f"{'SYSTEM':<12} {'SIDE':<9} {'INSTRUCTIONS':>12} {'CODE':>6} {'DATA':>6} {'LINES':>6}")
    for system in systems:
        own = options.program if system.startswith("feros") else None
        program = own or build(system, profile)
        for side in ("talker", "listener"):
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                if options.keep:
                    folder = options.keep / system.replace(":", "_")
                    folder.mkdir(parents=True, exist_ok=True)
                instructions, code, data = measure_patiently(system, program, side, folder)
            lines = code + data
            told = "-" if instructions is None else f"{instructions:.0f}"
            print(
                f"{system:<12} {side:<9} {told:>12} {code:>6.0f} {data:>6.0f} {lines:>6.0f}",
                flush=True,
            )
            most = BOUNDS[profile].get((system, side), (None, None, None))
            units = ("instructions", "cache lines of code", "cache lines of data")
            for found, bound, leeway, unit in zip((instructions, code, data), most, LEEWAY, units):
                if None not in (found, bound) and found > bound * leeway:
                    limit = bound * leeway
                    failed.append(f"{system} {side}: {found:.0f} {unit}, at most {limit:.0f}")
    if options.check and failed:
        sys.exit("error: a message costs more than BOUNDS allows:\n  " + "\n  ".join(failed))


if __name__ == "__main__":
    main()
