#!/usr/bin/env python3
"""Measures the cost of trace points for a publisher, and the additional cost of writing them while it runs.

    measure_trace.py FEROS CAMERA [HERTZ [ROUNDS [SECONDS]]]

CAMERA is the example `camera` of crates/tools/bag, which publishes 1 kB. Each round measures it three
times: with its trace off (the floor); on, written at its end; on, and written each second
(FEROS_TRACE_PERIOD). Another process subscribes, untraced (`feros topic hz`). The script prints
the publisher's percentage of one processor, and the bytes that it wrote per second. All stays on
loopback, traces in a separate folder.
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
TOPIC = "/measured_trace"
ENVIRONMENT = dict(os.environ, ROS_DOMAIN_ID="69", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
MODES = {"off": {}, "on": {}, "on, each second": {"FEROS_TRACE_PERIOD": "1s"}}


def processor_seconds(process):
    """Returns the time of all threads as the scheduler counts it, since ticks of /proc/PID/stat are coarse."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def start(*words, **variables):
    return subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**ENVIRONMENT, **variables})


def end(process):
    process.send_signal(signal.SIGINT)
    process.wait()


def measure(camera, hertz, mode, seconds, folder):
    variables = {} if mode == "off" else {"FEROS_TRACE": folder, **MODES[mode]}
    publisher = start(camera, TOPIC, "1000", hertz, "100000", **variables)
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


def main(feros, camera, hertz="1000", rounds="5", seconds="10"):
    subscription = start(feros, "topic", "hz", TOPIC)
    costs = {mode: [] for mode in MODES}
    try:
        for _ in range(int(rounds)):
            for mode in MODES:
                with tempfile.TemporaryDirectory() as folder:
                    percent, bytes_a_second = measure(camera, hertz, mode, float(seconds), folder)
                costs[mode].append(percent)
                print(f"{mode}: {percent:.2f} %, {bytes_a_second / 1000:.0f} kB/s", flush=True)
    finally:
        end(subscription)
    for mode, percents in costs.items():
        print(f"{mode}: median {statistics.median(percents):.2f} %, of {min(percents):.2f} to {max(percents):.2f}")


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
