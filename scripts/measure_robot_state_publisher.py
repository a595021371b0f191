#!/usr/bin/env python3
"""Measures the processor time of robot_state_publisher: that of Feros beside that of ROS 1.

    scripts/measure_robot_state_publisher.py FEROS [ROUNDS] [SECONDS]

A robot with 30 movable joints gets joint states at 200 Hz, and each node publishes each of them on
/tf, where one subscription listens. The nodes run in turns. The table has the processor time (user
and system) of the node alone, in seconds, the messages that the subscription has got meanwhile, and
the time per message, which is compared: on a busy machine, the rates of the publishers differ.
FEROS is the command `feros`; the table names its path, so that it shows which build was measured.

The peer is Debian's node of ROS 1, the only stock node that Debian has:

    apt install ros-robot-state-publisher python3-rosmaster python3-rospy
"""

import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

JOINTS, RATE = 30, 200
ROS1_NODE = Path("/usr/lib/robot_state_publisher/robot_state_publisher")
ROS1_PYTHON = "/usr/bin/python3"
DOMAIN = os.environ.get("ROS_DOMAIN_ID", "0")
PATIENCE = 30.0
"""The seconds until messages must arrive."""

NAMES = [f"joint_{number}" for number in range(JOINTS)]
ROS1_PUBLISHER = f"""
import rospy
from sensor_msgs.msg import JointState
rospy.init_node("joints")
publisher = rospy.Publisher("joint_states", JointState, queue_size=10)
rate = rospy.Rate({RATE})
while not rospy.is_shutdown():
    state = JointState(name={NAMES!r}, position=[0.1] * {JOINTS})
    state.header.stamp = rospy.Time.now()
    publisher.publish(state)
    rate.sleep()
"""
# Prints the number of messages so far when it gets a line.
ROS1_LISTENER = """
import sys
import rospy
from tf2_msgs.msg import TFMessage
counted = [0]
def count(message):
    counted[0] += len(message.transforms) == int(sys.argv[1])
rospy.init_node("listener")
rospy.Subscriber("/tf", TFMessage, count)
for line in sys.stdin:
    print(counted[0], flush=True)
"""


def stop(text):
    """Ends with an error."""
    sys.exit(f"measure_robot_state_publisher: error: {text}")


def check(feros):
    """Ends with what is missing."""
    lacks = [] if shutil.which(feros) else [f"the command {feros}"]
    if not ROS1_NODE.exists():
        lacks.append("ros-robot-state-publisher (apt install ros-robot-state-publisher)")
    if not shutil.which("rosmaster"):
        lacks.append("rosmaster (apt install python3-rosmaster)")
    imports = [ROS1_PYTHON, "-c", "import rospy, sensor_msgs.msg, tf2_msgs.msg"]
    if subprocess.run(imports, stderr=subprocess.DEVNULL, check=False).returncode:
        lacks.append("rospy (apt install python3-rospy python3-sensor-msgs python3-tf2-msgs)")
    if lacks:
        stop("this is missing: " + ", ".join(lacks))


def robot():
    """Returns a robot with one chain of joints, in URDF."""
    links = "".join(f'<link name="link_{number}"/>' for number in range(JOINTS + 1))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="link_{number}"/>'
        f'<child link="link_{number + 1}"/><origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/>'
        '<axis xyz="0 1 0"/></joint>' for number, name in enumerate(NAMES))
    return f'<robot name="chain">{links}{joints}</robot>'


class System:
    """Processes that end together."""

    def __init__(self, environment, folder):
        self.environment = {**os.environ, **environment}
        self.folder = folder
        self.processes = []

    def start(self, command, **more):
        """Starts a process in a session of its own."""
        with open(self.folder / "log.txt", "ab") as log:
            process = subprocess.Popen(
                command, env=self.environment, stderr=log, start_new_session=True,
                **{"stdin": subprocess.DEVNULL, "stdout": log, **more})
        self.processes.append(process)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


class Feros(System):
    """The node that the command contains."""

    def __init__(self, feros, folder):
        super().__init__({"ROS_DOMAIN_ID": DOMAIN}, folder)
        self.feros = feros
        self.counts = folder / "frames.txt"

    def run(self):
        """Starts everything; returns the process of the node."""
        states = "{name: [%s], position: [%s]}" % (
            ", ".join(NAMES), ", ".join(["0.1"] * JOINTS))
        node = self.start([
            self.feros, "run", "robot_state_publisher", "robot_state_publisher",
            str(self.folder / "robot.urdf"), "--ros-args", "-p", "ignore_timestamp:=true",
            "-p", "publish_frequency:=1000.0"])
        with open(self.counts, "wb") as counts:
            self.start([
                self.feros, "topic", "echo", "/tf", "--field", "transforms[0].child_frame_id"],
                stdout=counts)
        self.start([
            self.feros, "topic", "pub", "-r", str(RATE), "/joint_states",
            "sensor_msgs/msg/JointState", states])
        return node

    def count(self):
        """The number of messages on /tf so far."""
        return self.counts.read_bytes().count(b"link_")


class Ros1(System):
    """Debian's node of ROS 1."""

    def __init__(self, _feros, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        super().__init__({
            "ROS_MASTER_URI": f"http://127.0.0.1:{self.port}", "ROS_IP": "127.0.0.1",
            "ROS_LOG_DIR": str(folder)}, folder)
        for variable in ("PYTHONPATH", "LD_LIBRARY_PATH", "ROS_HOSTNAME"):
            self.environment.pop(variable, None)
        self.listener = None

    def run(self):
        """Starts everything; returns the process of the node."""
        self.start([shutil.which("rosmaster"), "--core", "-p", self.port])
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(self.port))) == 0:
                    break
            time.sleep(0.1)
        self.set("/robot_description", (self.folder / "robot.urdf").read_text())
        node = self.start([
            str(ROS1_NODE), "_ignore_timestamp:=true", "_publish_frequency:=1000.0"])
        self.listener = self.start(
            [ROS1_PYTHON, "-c", ROS1_LISTENER, str(JOINTS)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.start([ROS1_PYTHON, "-c", ROS1_PUBLISHER])
        return node

    def set(self, name, value):
        """Sets a parameter of the master."""
        code = "import rospy, sys; rospy.set_param(sys.argv[1], sys.argv[2])"
        subprocess.run([ROS1_PYTHON, "-c", code, name, value], env=self.environment, check=True)

    def count(self):
        """The number of messages on /tf so far."""
        self.listener.stdin.write(b"\n")
        self.listener.stdin.flush()
        return int(self.listener.stdout.readline())


def processor_seconds(session):
    """The time of all processes of a session: user and system."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(system, feros, seconds):
    """Returns the processor time of a node, and the messages on /tf per second."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "robot.urdf").write_text(robot())
        with system(feros, Path(folder)) as running:
            node = running.run()
            until = time.monotonic() + PATIENCE
            while running.count() < RATE:
                if node.poll() is not None or time.monotonic() > until:
                    log = Path(folder, "log.txt").read_text(errors="replace")
                    stop(f"{system.__name__}: no messages arrive on /tf: {log[-2000:]}")
                time.sleep(0.1)
            count, used, began = running.count(), processor_seconds(node.pid), time.monotonic()
            time.sleep(seconds)
            used = processor_seconds(node.pid) - used
            elapsed = time.monotonic() - began
            return used * seconds / elapsed, (running.count() - count) / elapsed


def main():
    """Measures in turns, and prints the table."""
    if len(sys.argv) < 2 or len(sys.argv) > 4:
        sys.exit(__doc__)
    feros = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
    check(feros)
    build = re.search(r"/target/(\w+)/", str(Path(shutil.which(feros)).resolve()))
    print(f"{shutil.which(feros)}: {build[1] if build else 'installed'};"
          f" {JOINTS} joints at {RATE} Hz, {seconds:g} s\n")
    print("| round | system | processor s | messages on /tf per s | µs per message |")
    print("|--:|---|--:|--:|--:|")
    times = {Feros: [], Ros1: []}
    for number in range(rounds):
        for system, found in times.items():
            used, rate = measure(system, feros, seconds)
            found.append(used / (rate * seconds) * 1e6)
            print(f"| {number + 1} | {system.__name__} | {used:.2f} | {rate:.0f} | {found[-1]:.0f} |",
                  flush=True)
    ours, theirs = (statistics.median(found) for found in times.values())
    print(f"\nmedians of the time per message: Feros {ours:.0f} µs, ROS 1 {theirs:.0f} µs;"
          f" Feros / ROS 1 {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
