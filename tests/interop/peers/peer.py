"""Drives a stock rclpy node with JSON lines.

The first output line is {"ready": NODE}. Then each input line is a request, {"op": NAME, ...arguments}, and gets one
output line: {"ok": RESULT} or {"error": TEXT}. When the input ends, the peer ends cleanly. Callbacks run in a separate
thread, so a request may wait for their data.
"""
import argparse
import json
import sys
import threading
import time

import rclpy
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSHistoryPolicy, QoSLivelinessPolicy, QoSProfile, QoSReliabilityPolicy


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--node", default="peer")
    parser.add_argument("--namespace", default="/")
    return parser.parse_args()


def qos(value):
    """Makes a profile from an object: the ROS default (reliable, volatile, keep last 10), with the changes that it names.

    reliability, durability, history, liveliness: a name as rmw knows it; depth: a number; deadline, lifespan,
    liveliness_lease_duration: seconds; avoid_ros_namespace_conventions: bool.
    """
    value = dict(value)
    profile = QoSProfile(depth=value.pop("depth", 10))
    policies = {"reliability": QoSReliabilityPolicy, "durability": QoSDurabilityPolicy,
                "history": QoSHistoryPolicy, "liveliness": QoSLivelinessPolicy}
    for name, setting in value.items():
        if name in policies:
            setting = policies[name][setting.upper()]
        elif name in ("deadline", "lifespan", "liveliness_lease_duration"):
            setting = Duration(nanoseconds=int(setting * 1e9))
        elif name != "avoid_ros_namespace_conventions":
            raise ValueError(f"unknown QoS policy {name!r}")
        setattr(profile, name, setting)
    return profile


def qos_to_json(profile):
    def seconds(duration):
        return duration.nanoseconds / 1e9

    return {
        "reliability": profile.reliability.name.lower(),
        "durability": profile.durability.name.lower(),
        "history": profile.history.name.lower(),
        "depth": profile.depth,
        "liveliness": profile.liveliness.name.lower(),
        "deadline": seconds(profile.deadline),
        "lifespan": seconds(profile.lifespan),
        "liveliness_lease_duration": seconds(profile.liveliness_lease_duration),
    }


class Inbox:
    """The items that callbacks have received and no request has taken yet."""

    LIMIT = 10_000

    def __init__(self):
        self._items = []
        self._changed = threading.Condition()

    def put(self, item):
        with self._changed:
            if len(self._items) >= self.LIMIT:
                raise OverflowError(f"more than {self.LIMIT} items that no request took")
            self._items.append(item)
            self._changed.notify_all()

    def take(self, count=1, timeout=30.0):
        """Waits for the `count` oldest items and takes them; raises TimeoutError if too few come in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._items) >= count, timeout):
                raise TimeoutError(f"{len(self._items)} of {count} within {timeout} s")
            taken, self._items = self._items[:count], self._items[count:]
            return taken

    def count(self):
        with self._changed:
            return len(self._items)


def wait_until(condition, timeout=30.0):
    """Polls a condition for which rclpy has no event; returns the first true result, or raises TimeoutError."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() >= end:
            raise TimeoutError(f"not within {timeout} s")
        time.sleep(0.02)


def run(args, setup):
    """Makes the node, lets `setup(node)` add entities and return the operations by name, and serves the requests."""
    rclpy.init()
    node = rclpy.create_node(args.node, namespace=args.namespace)
    operations = setup(node)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinning = threading.Thread(target=spin, args=(executor,), name="spin")
    spinning.start()
    answer({"ready": node.get_fully_qualified_name()})
    try:
        for line in sys.stdin:
            answer(result_of(operations, line))
    finally:
        rclpy.shutdown()
        spinning.join()


def spin(executor):
    try:
        executor.spin()
    except ExternalShutdownException:
        pass


def result_of(operations, line):
    try:
        request = json.loads(line)
        name = request.pop("op")
        if name not in operations:
            raise ValueError(f"unknown operation {name!r}, known: {sorted(operations)}")
        return {"ok": operations[name](**request)}
    except Exception as error:  # every failure becomes an answer, which the test checks
        return {"error": f"{type(error).__name__}: {error}"}


def answer(value):
    print(json.dumps(value, allow_nan=False), flush=True)
