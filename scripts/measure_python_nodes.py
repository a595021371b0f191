#!/usr/bin/env python3
"""Measures the cost of nodes in Python, for Feros and rclpy in turns, on loopback.

    .venv/bin/python scripts/measure_python_nodes.py [ROUNDS]

It takes the wheel that scripts/build_wheel.sh last put into target, and the rclpy of .venv, in the
same interpreter; `feros_rclpy` is the same program with the wheel's packages under ROS's names.
It prints medians over rounds: one-way latency between two processes (the median of each round), also for a
program with asyncio, processor time of a node with 20 subscriptions at 50 Hz, memory of a process with
an empty node, and processor time of one turn of an executor that has idle subscriptions.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUBSCRIPTIONS, HERTZ, SECONDS, TURNS = 20, 50, 5.0, 500
SIZES = {"256 B": (256, 200, 0.01), "1 MB": (1_000_000, 50, 0.1)}
SYSTEMS = ("rclpy", "feros_rclpy", "feros", "feros:numpy")


class Feros:
    """The native API."""

    def __init__(self, name, views=False):
        import feros
        from feros.msgs.std_msgs.msg import UInt8MultiArray

        self.cls, self.views = UInt8MultiArray, views
        self.context = feros.Context([])
        self.node = self.context.create_node(name)
        self.executor = feros.Executor()
        self.executor.add_node(self.node)

    def subscribe(self, topic, callback):
        return self.node.create_subscription(self.cls, topic, callback, 100, views=self.views)

    def publisher(self, topic):
        return self.node.create_publisher(self.cls, topic, 100)

    @staticmethod
    def matched(publisher):
        return publisher.subscription_count

    def publish_stamped(self, publisher, size):
        if self.views:
            loan = publisher.loan({"data": size})
            loan.data[:8] = memoryview(time.monotonic_ns().to_bytes(8, "little"))
            loan.publish()
            return
        if not hasattr(self, "message") or len(self.message.data) != size:
            self.message = self.cls(data=array("B", bytes(size)))
        self.message.data[:8] = array("B", time.monotonic_ns().to_bytes(8, "little"))
        publisher.publish(self.message)

    def spin_once(self, seconds):
        self.executor.spin_once(seconds)

    def end(self):
        self.context.shutdown()


class Rclpy:
    """Stock ROS 2."""

    def __init__(self, name, views=False):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from std_msgs.msg import UInt8MultiArray

        self.rclpy, self.cls = rclpy, UInt8MultiArray
        rclpy.init()
        self.node = rclpy.create_node(name)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def subscribe(self, topic, callback):
        return self.node.create_subscription(self.cls, topic, callback, 100)

    def publisher(self, topic):
        return self.node.create_publisher(self.cls, topic, 100)

    @staticmethod
    def matched(publisher):
        return publisher.get_subscription_count()

    def publish_stamped(self, publisher, size):
        if not hasattr(self, "message") or len(self.message.data) != size:
            self.message = self.cls(data=array("B", bytes(size)))
        self.message.data[:8] = array("B", time.monotonic_ns().to_bytes(8, "little"))
        publisher.publish(self.message)

    def spin_once(self, seconds):
        self.executor.spin_once(timeout_sec=seconds)

    def end(self):
        self.rclpy.shutdown()


def system(name, node):
    return Rclpy(node) if name.endswith("rclpy") else Feros(node, views=name == "feros:numpy")


def wait_for(publisher, side, count=1):
    while side.matched(publisher) < count:
        time.sleep(0.01)
    time.sleep(0.3)


def talk(side, topics, size, count, pause):
    publishers = [side.publisher(f"topic_{number}") for number in range(topics)]
    for publisher in publishers:
        wait_for(publisher, side)
    for _ in range(count):
        for publisher in publishers:
            side.publish_stamped(publisher, size)
        time.sleep(pause)
    time.sleep(1)


def listen_async(side, count):
    """Does the same with `async for`, for a node that is in no executor of the program."""
    latencies, node = [], side.context.create_node(f"async_{os.getpid()}")

    async def hear():
        async for message in node.subscribe(side.cls, "topic_0", 100, views=side.views):
            now = time.monotonic_ns()
            latencies.append(now - int.from_bytes(bytes(message.data[:8]), "little"))
            if len(latencies) == count:
                return

    try:
        asyncio.run(asyncio.wait_for(hear(), 30))
    except TimeoutError:
        pass  # as in `listen`, the messages so far count
    print(statistics.median(latencies[10:]) / 1000)


def listen(side, count):
    latencies = []

    def note(message):
        now = time.monotonic_ns()
        latencies.append(now - int.from_bytes(bytes(message.data[:8]), "little"))

    kept = side.subscribe("topic_0", note)
    until = time.monotonic() + 30
    while len(latencies) < count and time.monotonic() < until:
        side.spin_once(0.2)
    del kept
    print(statistics.median(latencies[10:]) / 1000)


def work(side):
    heard = [0]

    def note(_):
        heard[0] += 1

    kept = [side.subscribe(f"topic_{number}", note) for number in range(SUBSCRIPTIONS)]
    while heard[0] < SUBSCRIPTIONS * 10:
        side.spin_once(0.2)
    began, spent, first = time.monotonic(), time.process_time(), heard[0]
    while time.monotonic() - began < SECONDS:
        side.spin_once(0.2)
    took = time.monotonic() - began
    print((time.process_time() - spent) / took * 100)
    print(f"{(heard[0] - first) / took:.0f} messages per second", file=sys.stderr)
    del kept


def memory(side):
    until = time.monotonic() + 1
    while time.monotonic() < until:
        side.spin_once(0.1)
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    (pss,) = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    print(pss / 1024)


def turns(side, idle):
    heard = [0]

    def note(_):
        heard[0] += 1

    kept = [side.subscribe(f"idle_{number}", note) for number in range(idle)]
    kept.append(side.subscribe("busy", note))
    publisher = side.publisher("busy")
    wait_for(publisher, side)
    spent = 0
    for number in range(TURNS):
        side.publish_stamped(publisher, 16)
        began = time.thread_time_ns()
        while heard[0] <= number:
            side.spin_once(0.2)
        spent += time.thread_time_ns() - began
    print(spent / TURNS / 1000)


def child(name, what, *numbers):
    side = system(name, f"{what}_{os.getpid()}")
    jobs = {"talk": talk, "listen": listen, "listen_async": listen_async, "work": work, "memory": memory, "turns": turns}
    jobs[what](side, *[float(n) if "." in n else int(n) for n in numbers])
    side.end()


def start(environment, *arguments):
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    if arguments[0] == "feros_rclpy":
        first = f"{environment['PYTHONPATH']}/feros/compat"
        environment = {**environment, "PYTHONPATH": f"{first}:{environment['PYTHONPATH']}"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def answer(process):
    text = process.communicate(timeout=120)[0]
    if process.returncode:
        sys.exit(f"measure_python_nodes: error: {process.args} ended with {process.returncode}")
    return float(text.split()[0])


def pair(environment, name, listener, talker):
    talking = start(environment, name, "talk", *talker)
    measured = answer(start(environment, name, *listener))
    talking.wait(120)
    return measured


def rows(environment):
    for label, (size, count, pause) in SIZES.items():
        # This measures the best form of each system, and the same program with each system's own
        # arrays.
        yield (f"latency, {label}, us", lambda name, s=size, c=count, p=pause: pair(
            environment, name, ("listen", c), (1, s, c, p)))
        yield (f"latency, {label}, asyncio, us", lambda name, s=size, c=count, p=pause: pair(
            environment, name, ("listen_async", c), (1, s, c, p)
        ) if name.startswith("feros:") or name == "feros" else None)
    count = int(HERTZ * (SECONDS + 3))
    yield (f"{SUBSCRIPTIONS} x {HERTZ} Hz, % of a core", lambda name: pair(
        environment, name, ("work",), (SUBSCRIPTIONS, 64, count, 1 / HERTZ)))
    yield "empty node, MB (PSS)", lambda name: answer(start(environment, name, "memory"))
    for idle in (0, 100):
        yield (f"a turn beside {idle} idle, us", lambda name, i=idle: answer(
            start(environment, name, "turns", i)))


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    wheels = sorted(ROOT.glob("target/wheels*/feros-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit("measure_python_nodes: error: there is no wheel. Run scripts/build_wheel.sh.")
    with tempfile.TemporaryDirectory(prefix="feros-wheel-") as folder:
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extractall(folder)
        environment = {**os.environ, "PYTHONPATH": folder, "ROS_DOMAIN_ID": "61",
                       "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        print(f"{wheels[-1]}; medians of {rounds} rounds")
        print(f"{'':30}" + "".join(f"{name:>14}" for name in SYSTEMS) + f"{'factors':>16}")
        for label, measure in rows(environment):
            taken = [[measure(name) for name in SYSTEMS] for _ in range(rounds)]
            medians = [None if None in column else statistics.median(column) for column in zip(*taken)]
            shown = "".join("             -" if m is None else f"{m:14.1f}" for m in medians)
            known = [] if None in medians else medians[1:]
            factors = " ".join(f"{medians[0] / median:7.1f}" for median in known)
            print(f"{label:30}{shown} {factors}", flush=True)


main()
