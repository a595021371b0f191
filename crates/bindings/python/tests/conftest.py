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
                            "FEROS_PREFIX_PATH", "FEROS_TRANSPORTS", "RMW_IMPLEMENTATION",
                            "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"):
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


@pytest.fixture
def stock():
    """The interpreter with stock ROS 2; FEROS_STOCK_PYTHON is its path."""
    python = os.environ.get("FEROS_STOCK_PYTHON")
    if os.environ.get("FEROS_SKIP_INTEROP") == "1" or not python:
        pytest.skip("stock ROS 2 is not used: set FEROS_STOCK_PYTHON to its interpreter")
    return python
