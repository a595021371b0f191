#!/usr/bin/env python3
"""Measures the bring-up of 30 nodes by a launch file in Python: with Feros, with stock launch, and
by a shell that only starts the programs (the floor), in turns.

    scripts/measure_bringup.py FEROS STOCK_PYTHON [ROUNDS]

FEROS is the command `feros` in an environment with the wheel. STOCK_PYTHON is a Python that finds
stock `launch` and `launch_ros`; it gets this process's PYTHONPATH, which Feros does not get. Each
node is a shell script that writes `up` and ends. The medians of all rounds are printed: the time
until all nodes are up, the time until the launch has ended, and the time of the processors.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODES = 30
FILE = f"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    rate = LaunchConfiguration('rate')
    return LaunchDescription([
        DeclareLaunchArgument('rate', default_value='10'),
        *(Node(
            package='demo', executable='up', name=f'n{{number}}', namespace='robot',
            output='screen', parameters=[{{'rate': rate, 'number': number}}],
            remappings=[('scan', f'scan{{number}}')],
        ) for number in range({NODES})),
    ])
"""
STOCK = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource

service = LaunchService(argv=[])
service.include_launch_description(LaunchDescription([
    IncludeLaunchDescription(AnyLaunchDescriptionSource(sys.argv[1]))]))
sys.exit(service.run())
"""


def make_robot(folder):
    """Writes the launch file, and a prefix with the package of the nodes; returns the file."""
    for name, text in (
        ("share/demo/package.xml", "<package format='3'><name>demo</name></package>"),
        ("share/ament_index/resource_index/packages/demo", ""),
        ("lib/demo/up", "#!/bin/sh\necho up\n"),
        ("robot.launch.py", FILE),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "lib/demo/up").chmod(0o755)
    return folder / "robot.launch.py"


def processor_seconds():
    """The time of the processors that ended children have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command, environment):
    """Runs a launch; returns the seconds until all nodes are up, until its end, and of the
    processors."""
    before, begin = processor_seconds(), time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    up_at = []
    for line in process.stdout:
        if line.split()[-1:] == ["up"]:
            up_at.append(time.monotonic() - begin)
    if process.wait() != 0 or len(up_at) != NODES:
        sys.exit(f"measure_bringup: error: {command[0]} ended with {process.returncode} after"
                 f" {len(up_at)} of {NODES} nodes were up")
    return up_at[-1], time.monotonic() - begin, processor_seconds() - before


def main():
    """Measures in turns, and prints the medians."""
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    feros, stock = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) == 4 else 15
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = str(make_robot(folder))
        own = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "FEROS_PREFIX_PATH": name, "ROS_LOG_DIR": f"{name}/log"}
        of_stock = {**os.environ, "AMENT_PREFIX_PATH": name, "ROS_LOG_DIR": f"{name}/log"}
        start = f"{folder}/lib/demo/up &\n" * NODES + "wait"
        systems = {
            "feros": ([feros, "launch", file], own),
            "stock": ([stock, "-c", STOCK, file], of_stock),
            "floor": (["/bin/sh", "-c", start], own),
        }
        found = {name: [] for name in systems}
        for _ in range(rounds):
            for name, (command, environment) in systems.items():
                found[name].append(measure(command, environment))
    medians = {
        name: [statistics.median(column) for column in zip(*values)]
        for name, values in found.items()}
    print("| | all up: ms | end: ms | processors: ms |\n|---|--:|--:|--:|")
    for name, values in medians.items():
        print(f"| {name} |", " | ".join(f"{value * 1000:.0f}" for value in values), "|")
    ratios = [ours / theirs for ours, theirs in zip(medians["feros"], medians["stock"])]
    print("| feros / stock |", " | ".join(f"{ratio:.2f}" for ratio in ratios), "|")


if __name__ == "__main__":
    main()
