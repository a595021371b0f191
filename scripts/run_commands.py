#!/usr/bin/env python3
"""Runs the commands in the README, in the book, and in READMEs and comments of examples.

    scripts/run_commands.py TARGET/debug [TEXT]

They run in a separate folder, while the robot of the book runs, which has the entities that the
commands name. A command that ends must end successfully. Any other must print the text that
scripts/commands.py expects, and end at SIGINT. That file also lists commands that cannot run here,
with the reason. TEXT chooses the commands that contain it.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import commands
from commands import ENDLESS, ENDS, FINDS, MEANWHILE, NOT_HERE, ROOT, STAY

WATCHDOG = 120
# Domains are reserved as in tests/interop: a domain belongs to the process that listens on this
# port plus the domain's number.
DOMAINS, LOCK_PORT = range(20, 71), 28_500
FOREIGN = (
    "AMENT_PREFIX_PATH", "CYCLONEDDS_URI", "FEROS_ENGINE", "FEROS_INTERFACES", "FEROS_ROS_DISTRO",
    "FEROS_MAX_SUBSCRIPTIONS", "FEROS_TRANSPORTS", "RMW_IMPLEMENTATION", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "FEROS_TRACE", "XDG_DATA_HOME",
)
ARM_LAUNCH = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    urdf = PathJoinSubstitution([FindPackageShare("arm_bringup"), "urdf", "arm.urdf"])
    text = ParameterValue(Command(["cat ", urdf]), value_type=str)
    return LaunchDescription([
        DeclareLaunchArgument("name", default_value="arm"),
        Node(package="robot_state_publisher", executable="robot_state_publisher",
             parameters=[{"robot_description": text}], output="screen"),
    ])
"""
ARM_CMAKE = """project(arm_bringup)
find_package(ament_cmake REQUIRED)
install(DIRECTORY launch urdf DESTINATION share/${PROJECT_NAME})
ament_package()
"""
ARM = {
    "package.xml": "<package><name>arm_bringup</name><version>1.0.0</version><export>"
                   "<build_type>ament_cmake</build_type></export></package>",
    "CMakeLists.txt": ARM_CMAKE,
    "launch/arm.launch.py": ARM_LAUNCH,
    "urdf/arm.urdf": "<robot name='arm'><link name='base'/></robot>",
}
SAYS_HI = """<launch>
  <executable cmd="sh -c 'while echo hi; do sleep 0.1; done'" output="screen"/>
</launch>"""


class Running:
    """A command that runs in a separate process group; its output is kept."""

    def __init__(self, command, environment, folder):
        self.command, self.said, self.has_news = command, "", threading.Condition()
        self.process = subprocess.Popen(
            ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while part := self.process.stdout.read1():
            with self.has_news:
                self.said += part.decode(errors="replace")
                self.has_news.notify_all()
        with self.has_news:
            self.has_news.notify_all()

    def says(self, expected):
        """Waits until the output has `expected` or the command ends; returns whether the output has
        it and the command still runs."""
        def is_over():
            return re.search(expected, self.said) or not self.reader.is_alive()

        with self.has_news:
            self.has_news.wait_for(is_over, WATCHDOG)
        return bool(re.search(expected, self.said)) and self.process.poll() is None

    def end(self, first=None):
        """Waits for the exit code; `None` if it has to be killed. `first` is a signal to send."""
        if first is not None and self.process.poll() is None:
            os.killpg(self.process.pid, first)
        try:
            code = self.process.wait(WATCHDOG)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # remaining processes of the command's group
        except ProcessLookupError:
            pass
        self.process.wait()
        self.reader.join(WATCHDOG)
        return code


class Place:
    """The folder where commands run: a clone as after a build, a home, and the files that commands name."""

    def __init__(self, folder, programs):
        self.folder, self.home = Path(folder), Path(folder) / "home"
        for name in ("examples", "crates", "interfaces"):
            (self.folder / name).symlink_to(ROOT / name)
        for profile in ("debug", "release"):
            (self.folder / "target" / profile).mkdir(parents=True)
            for file in programs.iterdir():
                if file.is_file():
                    (self.folder / "target" / profile / file.name).symlink_to(file)
        self.write("home/my_interfaces/my_robot/msg/Arm.msg", "int32 joints 6\n")
        self.write("my_interfaces/my_robot/msg/Arm.msg", "int32 joints 6\n")
        self.write("camera.yaml", "/camera:\n  ros__parameters:\n    rate: 20\n")
        self.write("robot.launch.xml", SAYS_HI)
        self.write("prefix/share/my_package/launch/robot.launch.xml", SAYS_HI)
        for name, text in ARM.items():
            self.write(f"home/arm/arm_bringup/{name}", text)
        talker = "prefix/lib/my_package/talker"
        self.write(talker, "#!/bin/sh\nwhile echo publishing; do sleep 0.1; done\n")
        (self.folder / talker).chmod(0o755)
        self.environment = {k: v for k, v in os.environ.items() if k not in FOREIGN} | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            "FEROS_PREFIX_PATH": str(self.folder / "prefix"),
            "PYTHONPATH": str(ROOT / "crates/bindings/python/python"),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self, command, before=()):
        """Starts a command, after the lines of its block that set up the shell."""
        begin = "exec "
        if re.match(r"\w+=", command):
            begin = "exec env "
        elif command.startswith("source ") or "|" in command:
            begin = ""
        return Running("\n".join([*before, begin + command]), self.environment, self.folder)

    def enter(self, domain):
        """Runs the following commands in another domain."""
        self.environment["ROS_DOMAIN_ID"] = str(domain)

    def has_node(self, name, running):
        """Waits until a node exists, or the program has ended; returns whether it exists."""
        end = time.monotonic() + WATCHDOG
        while time.monotonic() < end and running.process.poll() is None:
            listed = self.start("feros node list")
            listed.end()
            if name in listed.said.split():
                return True
        return False


def as_run(command, folder):
    """Returns the command as it runs here: with the build of ./test, and below the folder."""
    command = re.sub(r"^cargo run .*?--bin (\S+)(?: --)?", r"\1", command)
    return command.removesuffix("&").strip().replace("/tmp/trace", f"{folder}/trace_of_demo")


def free_domain():
    """Returns a domain that no other process of this machine uses, and the socket that reserves it."""
    for number in DOMAINS:
        lock = socket.socket()
        try:
            lock.bind(("127.0.0.1", LOCK_PORT + number))
            lock.listen()
            return number, lock
        except OSError:
            lock.close()
    sys.exit("run_commands: all domains of tests are taken")


class Runs:
    """Runs blocks, and collects their faults."""

    def __init__(self, place, chosen):
        self.place, self.chosen = place, chosen
        self.faults, self.counts, self.used = [], {}, set()
        self.staying = []

    def block(self, block):
        """Runs the commands of a block, one after the other."""
        before = []
        for number, line in block.lines:
            text = commands.without_comment(line)
            table, key = commands.known(text, block.path)
            self.used.add(key)
            if table is not NOT_HERE and re.match(r"(export|cd) ", text):
                if "ROS_DOMAIN_ID" not in text:
                    before.append(as_run(text, self.place.folder))
                continue
            if self.chosen not in text:
                continue
            kind = {id(ENDLESS): "interrupted", id(ENDS): "ended", id(STAY): "interrupted"}
            kind = kind.get(id(table), "not run here")
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if table is NOT_HERE:
                continue
            began = time.monotonic()
            fault = self.run(text, before, table, key)
            if fault:
                place = f"{block.path.relative_to(ROOT)}:{number}"
                self.faults.append(f"{place}: `{text}` {fault}")
            seconds, how = time.monotonic() - began, "fault" if fault else "well "
            print(f"{seconds:6.1f} s  {how}  {text}", flush=True)

    def run(self, text, before, table, key):
        """Runs a command; returns the fault, if there is one."""
        running = self.place.start(as_run(text, self.place.folder), before)
        if table is ENDS:
            code = running.end()
            if code == 0 or (code == 1 and text.startswith(FINDS)):
                return None
            how = f"ended with {code}" if code is not None else f"did not end within {WATCHDOG} s"
            return f"{how}: {running.said[-600:]}"
        what, _, name = table[key].partition(" ")
        if not (self.place.has_node(name, running) if what == "node" else running.says(table[key])):
            code = running.end(signal.SIGINT)
            return f"did not say `{table[key]}`, and ended with {code}: {running.said[-600:]}"
        if table is STAY:
            self.staying.append((text, running))
            return None
        if key in MEANWHILE and self.place.start(MEANWHILE[key]).end() != 0:
            return f"got no input from `{MEANWHILE[key]}`"
        return self.interrupted(running)

    @staticmethod
    def interrupted(running):
        """Ends a command with Ctrl-C; returns the fault, if there is one."""
        code = running.end(signal.SIGINT)
        if code in (0, 130, -signal.SIGINT):
            return None
        return f"ended with {code} when it was interrupted: {running.said[-600:]}"

    def end_staying(self):
        """Ends the commands that kept running until the end of the file."""
        while self.staying:
            text, running = self.staying.pop()
            fault = self.interrupted(running)
            if fault:
                self.faults.append(f"`{text}` {fault}")


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    programs, chosen = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) == 3 else ""
    (domain, lock), (empty_domain, other_lock) = free_domain(), free_domain()
    with lock, other_lock, tempfile.TemporaryDirectory(prefix="feros_commands_") as folder:
        place = Place(folder, programs)
        place.enter(domain)
        runs, robot = Runs(place, chosen), place.start("robot_of_the_book")
        if not robot.says("the robot is there"):
            sys.exit(f"run_commands: the robot did not start: {robot.said}")
        path = None
        for block in commands.blocks():
            if block.path != path:
                runs.end_staying()
            path = block.path
            is_alone = str(path.relative_to(ROOT)).startswith(commands.ALONE)
            place.enter(empty_domain if is_alone else domain)
            runs.block(block)
        runs.end_staying()
        if runs.interrupted(robot):
            runs.faults.append(f"the robot: {robot.said[-600:]}")
    if not chosen:
        for table in (ENDLESS, STAY, NOT_HERE):
            unused = [key for key in table if key not in runs.used]
            runs.faults += [f"scripts/commands.py: no text has `{key}`" for key in unused]
    for fault in runs.faults:
        print(fault, file=sys.stderr)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(runs.counts.items())))
    sys.exit(1 if runs.faults else 0)


main()
