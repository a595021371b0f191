"""Runs steps in lanes: builds one after the other, and tests at the same time.

Steps that wait for other processes run while other steps compute. A failed step only prevents the
steps that need it, so that one run names every failure.
"""

import dataclasses
import os
import signal
import subprocess
import threading
import time

import counts
import parts

PASSED, FAILED, NOT_RUN, LEFT_OUT = "passed", "failed", "not run", "left out"
# Tests have watchdogs, so compilers give way to them. Beside a busy program, a compiler still gets
# about 30 % of a processor; with a niceness of 10 it would get 10 %, and a build would take hours.
NICENESS = 4
# Linux compares the niceness of processes only within a session (CONFIG_SCHED_AUTOGROUP), and each
# step is a session. This file sets the niceness of the whole session (sched(7)).
OF_SESSION = "/proc/{}/autogroup"
# The time within which processes have to end when asked.
GRACE_SECONDS = 15
LINES_OF_A_FAILURE = 150


@dataclasses.dataclass
class Result:
    """The outcome of a step."""

    step: parts.Step
    state: str = NOT_RUN
    seconds: float = 0.0
    # The processor time of the step and of all processes that it started.
    processor_seconds: float = 0.0
    tests: counts.Counts = dataclasses.field(default_factory=counts.Counts)
    # The skipped tests, as lines `test: reason`.
    skips: list = dataclasses.field(default_factory=list)
    reason: str = ""
    # The lines that tell of failures.
    failures: list = dataclasses.field(default_factory=list)


class Schedule:
    """All chosen steps, with their outcomes."""

    def __init__(self, steps, usual, seconds=float("inf")):
        """`seconds`: the time after which no step with `if_time` begins."""
        self.until = time.monotonic() + seconds
        self.results = {step.name: Result(step) for step in steps}
        # The seconds that each step took when it was last measured.
        self.usual = usual
        self.began = time.monotonic()
        self.begun = 0
        self.running = {}
        self.ended = set()
        self.is_stopped = False
        self.change = threading.Condition()

    def run(self):
        """Runs all steps; returns whether all passed, except for steps that the time left out."""
        waiting = {lane: [] for lane in parts.LANES}
        for result in self.results.values():
            waiting[result.step.lane].append(result)
        threads = [
            threading.Thread(target=self._run_steps, args=(waiting[lane],))
            for lane, at_once in parts.LANES.items()
            for _ in range(at_once)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return all(result.state in (PASSED, LEFT_OUT) for result in self.results.values())

    def stop(self):
        """Ends running steps, and starts no further ones. Signal handlers call this."""
        self.is_stopped = True
        for process in list(self.running.values()):
            _signal_group(process, signal.SIGTERM)

    def _run_steps(self, waiting):
        """Runs the steps of a lane until no step is left; the next step is always the first step
        that can begin."""
        while True:
            with self.change:
                if not waiting:
                    return
                result = next((r for r in waiting if self._is_decided(r)), None)
                if result is None:
                    self.change.wait(1.0)
                    continue
                waiting.remove(result)
            missing = [name for name in result.step.after if self.results[name].state != PASSED]
            states = {self.results[name].state for name in missing}
            if self.is_stopped:
                result.reason = "ended by a signal"
            elif states == {LEFT_OUT} or result.step.if_time and time.monotonic() > self.until:
                result.state, result.reason = LEFT_OUT, "the time of the run is over"
            elif missing:
                result.reason = f"needs {', '.join(missing)}"
            else:
                try:
                    self._run_step(result)
                except Exception as error:  # otherwise steps that need this step would wait forever
                    result.state, result.reason = FAILED, repr(error)
                    say(f"{result.step.name}: failed: {error!r}")
            with self.change:
                self.ended.add(result.step.name)
                self.change.notify_all()

    def _is_decided(self, result):
        """Whether all steps that a step needs have ended."""
        return self.is_stopped or self.ended.issuperset(result.step.after)

    def _run_step(self, result):
        step = result.step
        log = log_of(step)
        skips = parts.RESULTS / f"{_file_name(step)}.skipped"
        skips.unlink(missing_ok=True)
        with self.change:
            self.begun += 1
            number = self.begun
        usually = f", usually {self.usual[step.name]:.0f} s" if step.name in self.usual else ""
        began = time.monotonic()
        since = began - self.began
        say(f"[{number:2}/{len(self.results)}] {step.name}: begins after {since:.0f} s{usually}")
        environment = os.environ | step.environment | {"FEROS_TESTS_SKIPPED": str(skips)}
        gives_way = step.lane == parts.BUILD and not step.is_awaited
        nice = ["nice", f"--adjustment={NICENESS}"] if gives_way else []
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*nice, *map(str, step.command)],
                cwd=parts.REPOSITORY,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running[step.name] = process
            if gives_way:
                _give_way(process)
            code, used = self._wait(process, began + step.limit_seconds)
            del self.running[step.name]
        result.seconds = time.monotonic() - began
        result.processor_seconds = used.ru_utime + used.ru_stime
        said = log.read_text(errors="replace")
        # The numbers come from either a report or a reader of counts.
        if step.report is not None:
            result.tests = counts.of_nextest(step.report)
        if step.counts:
            result.tests += counts.READERS[step.counts](said)
        result.skips = _skips(skips)
        # Scripts name repeated tests only if the tests passed the second time. The report is that of
        # the first run.
        again = _run_again(said)
        recovered = min(len(again), result.tests.failed)
        result.tests += counts.Counts(recovered, -recovered, 0, again)
        # A test that skips itself in Rust counts as passed for the program that runs it.
        skipped = len({line.split(": ")[0] for line in result.skips})
        result.tests.passed = max(0, result.tests.passed - skipped)
        result.tests.skipped += skipped
        result.state = PASSED if code == 0 else FAILED
        if code is None:
            result.reason = f"did not end within {step.limit_seconds} s"
        elif code != 0 and self.is_stopped:
            result.state, result.reason = NOT_RUN, "ended by a signal"
        elif code != 0:
            result.reason = f"exit code {code}"
        end = f"[{number:2}/{len(self.results)}] {step.name}: {result.state} in {result.seconds:.0f} s"
        if result.state == FAILED:
            result.failures = counts.failures(said)
            lines = said.splitlines()[-LINES_OF_A_FAILURE:]
            quoted = "\n".join(f"    | {line}" for line in lines)
            end += f", {result.reason}; the end of {os.path.relpath(log, parts.REPOSITORY)}:\n{quoted}\n"
        say(end)

    def _wait(self, process, until):
        """Returns the exit code (`None` if the command had to be killed) and the processor time."""
        is_killed = False
        ending = None
        while True:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                process.returncode = os.waitstatus_to_exitcode(status)
                if ending is not None:
                    _wait_for_group(process)
                return (None if is_killed else process.returncode), used
            now = time.monotonic()
            if ending is None and (self.is_stopped or now > until):
                is_killed = not self.is_stopped
                _signal_group(process, signal.SIGTERM)
                ending = now
            elif ending is not None and now > ending + GRACE_SECONDS:
                _signal_group(process, signal.SIGKILL)
            time.sleep(0.05)


def say(text):
    """Prints complete lines with one call, since lanes print at the same time."""
    print(text, flush=True)


def log_of(step):
    """Returns the file with the output of a step."""
    return parts.RESULTS / f"{_file_name(step)}.log"


def _file_name(step):
    return "".join(letter if letter.isalnum() else "-" for letter in step.name)


def _signal_group(process, number):
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _give_way(process):
    """Lowers the priority of a session."""
    try:
        with open(OF_SESSION.format(process.pid), "w") as file:
            file.write(str(NICENESS))
    except OSError:
        pass  # without autogroups, or if it has ended: the niceness of its processes counts


def _wait_for_group(process):
    """Gives all processes that a command has started some time to end, after the signal; then kills
    those that remain."""
    until = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < until:
        try:
            os.killpg(process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.05)
    _signal_group(process, signal.SIGKILL)


def _skips(file):
    """Returns the lines `test: reason` of a file that `feros_test_support::skip` writes."""
    if not file.is_file():
        return []
    fields = [line.split("\t") for line in file.read_text().splitlines()]
    return [f"{package} {test}: {reason}" for package, test, reason in fields]


def _run_again(said):
    """Returns the names of the tests that scripts have repeated, from their output."""
    prefix = "run again: "
    return [line.removeprefix(prefix) for line in said.splitlines() if line.startswith(prefix)]
