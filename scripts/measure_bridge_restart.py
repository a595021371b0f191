#!/usr/bin/env python3
"""Measures how soon a topic is bridged again after `feros bridge` was killed and restarted.

    scripts/measure_bridge_restart.py COMMAND [--engines A,B] [--domains A,B] [--rounds N]

COMMAND is `feros`, built with the engines. A publisher at 50 Hz on the first side and a subscription
on the second stay; the bridge is killed (SIGKILL), and another bridge is started immediately.
The script prints the seconds from the kill to the new bridge's line `bridged: ...`, and to the first
message that the subscription prints afterwards. All is on loopback; a router of Zenoh is started if
a side uses Zenoh.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time

TOPIC, TYPE = "/bridge_restart", "std_msgs/msg/UInt32"
LONGEST = 120.0
DOMAIN_ID = 205


class Process:
    """A process, with the time of each line of its standard output."""

    def __init__(self, command, environment):
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.lines, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            with self.changed:
                self.lines.append((time.monotonic(), line.strip()))
                self.changed.notify_all()

    def wait_for(self, begin, after=0.0):
        """Waits for the first line after `after` that begins with `begin`; returns its time and text."""

        def found():
            of_those = (one for one in self.lines if one[0] > after and one[1].startswith(begin))
            return next(of_those, None)

        with self.changed:
            if not self.changed.wait_for(found, LONGEST):
                sys.exit(f"measure_bridge_restart: error: no line {begin!r} within {LONGEST} s")
            return found()

    def kill(self):
        self.child.kill()
        self.child.wait()


def measure(arguments, started):
    environment = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}

    def start(*words, **more):
        started.append(Process([arguments.command, *words], {**environment, **more}))
        return started[-1]

    if "zenoh" in arguments.engines:
        free = "listen/endpoints=[\"tcp/127.0.0.1:0\"]"
        routing = start("zenoh", "router", ZENOH_CONFIG_OVERRIDE=free).wait_for("Routing at ")[1]
        endpoint = routing.removeprefix("Routing at ")
        environment["ZENOH_CONFIG_OVERRIDE"] = f"connect/endpoints=[\"{endpoint}\"];{free}"
    sides = [
        {"ROS_DOMAIN_ID": str(domain), "FEROS_ENGINE": engine}
        for engine, domain in zip(arguments.engines, arguments.domains)
    ]
    start("topic", "pub", TOPIC, TYPE, "data: 1", "-r", "50", "--print", "0", **sides[0])
    echo = start("topic", "echo", TOPIC, TYPE, **sides[1])
    line = ["bridge", "--engines", ",".join(arguments.engines)]
    line += ["--domains", ",".join(map(str, arguments.domains))]
    line += ["--topics", TOPIC, "--services", ""]
    bridge = start(*line)
    echo.wait_for("data: ", bridge.wait_for("bridged: ")[0])
    times = []
    for round in range(arguments.rounds):
        killed = time.monotonic()
        bridge.kill()
        bridge = start(*line)
        bridged = bridge.wait_for("bridged: ")[0]
        heard = echo.wait_for("data: ", bridged)[0]
        bridged, heard = bridged - killed, heard - killed
        times.append((bridged, heard))
        said = f"bridged after {bridged:.2f} s, heard after {heard:.2f} s"
        print(f"round {round}: {said}", flush=True)
    for name, column in zip(("bridged", "heard"), zip(*times)):
        print(f"{name}: median {statistics.median(column):.2f} s, worst {max(column):.2f} s")


def pair(text):
    words = text.split(",")
    if len(words) != 2:
        raise argparse.ArgumentTypeError("two, separated by a comma")
    return words


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command")
    parser.add_argument("--engines", type=pair, default=["cyclonedds", "cyclonedds"])
    parser.add_argument("--domains", type=pair)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    second = DOMAIN_ID + (arguments.engines[0] == arguments.engines[1])
    arguments.domains = arguments.domains or [DOMAIN_ID, second]
    started = []
    try:
        measure(arguments, started)
    finally:
        for process in started:
            process.kill()


if __name__ == "__main__":
    main()
