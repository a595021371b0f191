#!/usr/bin/env python3
"""What trace points cost a publisher, and what writing them while it runs costs besides.

    measure_trace.py FEROS [HERTZ [ROUNDS [SECONDS]]]

Each round measures, one after the other: a publisher of `feros topic pub` whose trace is off (the
floor); on, written at its end; on, and written each second (FEROS_TRACE_PERIOD). Another process
subscribes, untraced. Printed are percents of one processor of the publisher, and what it wrote in
a second. All stays on loopback, traces in a folder of their own.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTLING = 3.0
TOPIC = ["/measured_trace", "std_msgs/msg/String"]
ENVIRONMENT = dict(os.environ, ROS_DOMAIN_ID="69", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
MODES = {"off": {}, "on": {}, "on, each second": {"FEROS_TRACE_PERIOD": "1s"}}


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(*words, **variables):
    return subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**ENVIRONMENT, **variables})


def end(process):
    process.send_signal(signal.SIGINT)
    process.wait()


def measure(feros, hertz, mode, seconds, folder):
    variables = {} if mode == "off" else {"FEROS_TRACE": folder, **MODES[mode]}
    publisher = start(feros, "topic", "pub", "-r", hertz, *TOPIC, "{data: hello}", **variables)
    try:
        time.sleep(SETTLING)
        written = lambda: sum(file.stat().st_size for file in Path(folder).iterdir())
        before, bytes_before, began = processor_seconds(publisher), written(), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        percent = (processor_seconds(publisher) - before) / took * 100
        return percent, (written() - bytes_before) / took
    finally:
        end(publisher)


def main(feros, hertz="1000", rounds="5", seconds="10"):
    subscription = start(feros, "topic", "hz", TOPIC[0])
    costs = {mode: [] for mode in MODES}
    try:
        for _ in range(int(rounds)):
            for mode in MODES:
                with tempfile.TemporaryDirectory() as folder:
                    percent, bytes_a_second = measure(feros, hertz, mode, float(seconds), folder)
                costs[mode].append(percent)
                print(f"{mode}: {percent:.1f} %, {bytes_a_second / 1000:.0f} kB/s", flush=True)
    finally:
        end(subscription)
    for mode, percents in costs.items():
        print(f"{mode}: median {statistics.median(percents):.1f} % of {sorted(percents)}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
