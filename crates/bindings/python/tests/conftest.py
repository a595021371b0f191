"""Fixtures of the tests: a separate domain, stock ROS 2 as a peer, and waits for conditions."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

# As in tests/interop, the process that listens on this port plus the number of a domain owns the
# domain.
DOMAINS, LOCK_PORT = range(71, 101), 28_500
PEERS = Path(__file__).parent / "peers"
REPOSITORY = Path(__file__).parents[4]
# The folders with stock ROS 2 that scripts/setup.sh makes, unless the user names another one.
ENVIRONMENTS = {"kilted": REPOSITORY / ".venv", "jazzy": REPOSITORY / ".venv-jazzy"}
if os.environ.get("FEROS_ROS2"):
    ENVIRONMENTS = {"FEROS_ROS2": Path(os.environ["FEROS_ROS2"])}


@pytest.fixture(scope="session", autouse=True)
def domain():
    """A domain that no other test on this machine uses."""
    watchdog = time.monotonic() + 600
    while time.monotonic() < watchdog:
        for number in DOMAINS:
            lock = socket.socket()
            try:
                lock.bind(("127.0.0.1", LOCK_PORT + number))
                lock.listen()
            except OSError:
                lock.close()
                continue
            os.environ["ROS_DOMAIN_ID"] = str(number)
            os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
            for foreign in ("AMENT_PREFIX_PATH", "CYCLONEDDS_URI", "FEROS_INTERFACES",
                            "FEROS_PREFIX_PATH", "FEROS_ROS_DISTRO", "FEROS_TRANSPORTS", "FEROS_MAX_SUBSCRIPTIONS",
                            "FEROS_MEETING_POINTS", "RMW_IMPLEMENTATION", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"):
                os.environ.pop(foreign, None)
            yield number
            lock.close()
            return
        time.sleep(0.5)
    raise RuntimeError("all domains of the tests are taken")


@pytest.fixture
def context():
    """A context that is shut down at the end of the test."""
    import feros

    with feros.Context([]) as made:
        yield made


@pytest.fixture
def eventually():
    """Waits until a condition holds; the tests do not check how long that takes."""

    def wait(condition, step=lambda: time.sleep(0.01)):
        watchdog = time.monotonic() + 60
        while not condition():
            if time.monotonic() > watchdog:
                raise AssertionError("the condition never held")
            step()

    return wait


class Process:
    """A program that reads and writes lines, and is ended at the end of the test."""

    def __init__(self, python, script, *args):
        command = [python, "-u", str(script), *args]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        assert line, f"the program ended with {self.process.wait(60)}"
        return line.rstrip("\n")

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def start():
    """Starts programs in `peers`, with this interpreter or another."""
    started = []

    def begin(script, *args, python=sys.executable):
        process = Process(python, PEERS / script, *args)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.end()


@pytest.fixture(params=ENVIRONMENTS)
def stock(request):
    """The interpreter with stock ROS 2, of one distribution after the other."""
    python = ENVIRONMENTS[request.param] / "bin" / "python"
    if os.environ.get("FEROS_SKIP_INTEROP") == "1":
        pytest.skip("stock ROS 2 is not used: FEROS_SKIP_INTEROP=1 is set")
    if not python.is_file():
        pytest.skip(f"stock ROS 2 is not used: there is no {python}; scripts/setup.sh makes it")
    return str(python)


@pytest.fixture
def in_stock(stock):
    """Whether stock ROS 2 has a type of test_msgs: Jazzy has no messages with keys."""
    share = Path(stock).parents[1] / "share" / "test_msgs"
    return lambda name: "Key" not in name or (share / f"{name}.idl").is_file()
