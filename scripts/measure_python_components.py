#!/usr/bin/env python3
"""Measures the memory of ten nodes in Python: in processes of stock ROS 2, and in Feros's containers.

    python3 scripts/measure_python_components.py [FEROS [PYTHON_OF_STOCK]]

FEROS is the command of an environment with the wheel (target/python-venv/bin/feros, which
scripts/test_python.sh makes), PYTHON_OF_STOCK is an interpreter with stock ROS 2
(.venv/bin/python). Each node has a publisher, a subscription and a timer of 10 Hz. The script prints
the sum of the PSS of all processes, in MB, once each node has heard 500 messages.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODES, MESSAGES = 10, 500
PARTS = '''
import os
import sys

import rclpy
from rclpy.node import Node
from std_msgs.msg import String


class Part(Node):
    def __init__(self):
        super().__init__("part")
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.create_subscription(String, "chatter", self.hear, 10)
        self.heard = 0
        self.create_timer(0.1, lambda: self.publisher.publish(String(data="hello")))

    def hear(self, message):
        self.heard += 1
        if self.heard == int(os.environ["MESSAGES"]):
            open(os.path.join(os.environ["HEARD"], self.get_name()), "w").close()


if __name__ == "__main__":
    rclpy.init(args=sys.argv)
    rclpy.spin(Part())
'''


def package(folder):
    """A Python package with the component, as an installation has it."""
    facts = folder / "parts-1.0.dist-info"
    facts.mkdir()
    (folder / "parts.py").write_text(PARTS)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: parts\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[rclpy_components]\nparts::Part = parts:Part\n")


def tree(pid):
    """A process and its descendants."""
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text().split()
    ]
    return [pid, *(process for child in children for process in tree(child))]


def pss(pid):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return kilobytes / 1024


def measured(name, commands, environment, load=()):
    heard = tempfile.TemporaryDirectory(prefix="feros-heard-")
    environment = {**environment, "HEARD": heard.name, "MESSAGES": str(MESSAGES)}
    started = [subprocess.Popen(command, env=environment) for command in commands]
    try:
        for command in load:
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        while len(os.listdir(heard.name)) < NODES:
            time.sleep(0.5)
        processes = [process for each in started for process in tree(each.pid)]
        total = sum(map(pss, processes))
        print(f"{name:50} {len(processes):3} processes {total:8.1f} MB", flush=True)
        return total
    finally:
        for process in started:
            process.send_signal(signal.SIGINT)
        for process in started:
            process.wait(60)
        heard.cleanup()


def main():
    feros = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/python-venv/bin/feros")
    stock = sys.argv[2] if len(sys.argv) > 2 else str(ROOT / ".venv/bin/python")
    with tempfile.TemporaryDirectory(prefix="feros-parts-") as folder:
        package(Path(folder))
        environment = {**os.environ, "PYTHONPATH": folder, "ROS_DOMAIN_ID": "104",
                       "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        names = [f"part_{number}" for number in range(NODES)]
        script = f"{folder}/parts.py"
        base = measured("processes of stock ROS 2", [
            [stock, script, "--ros-args", "-r", f"__node:={name}"] for name in names], environment)
        measured("processes of Feros's rclpy (feros run)", [
            [feros, "run", script, "--ros-args", "-r", f"__node:={name}"] for name in names],
            environment)
        for kind in ("component_container", "component_container_process"):
            total = measured(
                kind, [[feros, "run", "feros_component", kind]], environment,
                [[feros, "component", "load", "--spin-time", "5", "/ComponentManager", "parts",
                  "parts::Part", "-n", name] for name in names])
            print(f"{'':50} {total / base:.2f} of stock", flush=True)


main()
