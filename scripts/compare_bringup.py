#!/usr/bin/env python3
"""Starts the robot of examples/bringup with `feros launch` and with stock `launch`, by the same
launch file, and compares the graphs.

    scripts/compare_bringup.py FEROS STOCK_PYTHON PREFIX

FEROS is the command `feros` in an environment with the wheel and xacro, whose Python runs the
robot's nodes. STOCK_PYTHON is a Python that finds stock `launch`, `launch_ros` and `rclpy`; it gets
this process's PYTHONPATH and AMENT_PREFIX_PATH, which Feros does not get. PREFIX is what
`feros build` made of the folder. A graph has the nodes with their endpoints, types and parameters,
the loaded components, and poses; the managed node has to be active. ROS_DOMAIN_ID names a domain
without other nodes.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure_bringup import STOCK

BATTERY, COMPONENTS = "/robot/battery", 2
POSES = [("odom", "lidar"), ("base_link", "left_wheel"), ("base_link", "right_wheel")]
SECONDS = 120  # a limit for a launch that hangs, not a measure


def output_of(feros, *words):
    """Returns the output of a command of Feros; empty if it fails."""
    ended = subprocess.run([feros, *words], capture_output=True, text=True)
    return ended.stdout if ended.returncode == 0 else ""


def is_up(feros):
    """Whether the battery is active and all components are loaded."""
    containers = json.loads(output_of(feros, "component", "list", "--json") or "[]")
    loaded = [len(container["components"]) for container in containers]
    return loaded == [COMPONENTS] and output_of(
        feros, "lifecycle", "get", BATTERY).startswith("active")


def graph_of(feros):
    """The graph, without the node that stock launch itself has."""
    names = [node["name"] for node in json.loads(output_of(feros, "node", "list", "--json"))]
    names = [name for name in names if not name.startswith("/launch_ros_")]
    poses = {}
    for source, target in POSES:
        lines = output_of(feros, "tf", "echo", source, target, "--once").splitlines()[1:]
        # The robot moves in `odom`, so only the height of the lidar stays there.
        is_moving = source == "odom"
        poses[f"{target} in {source}"] = [line.split()[-1] for line in lines[:1]] if is_moving \
            else lines
    return {
        "nodes": {name: json.loads(output_of(feros, "node", "info", name, "--json") or "{}")
                  for name in names},
        "parameters": {name: output_of(feros, "param", "dump", name) for name in names},
        "components": json.loads(output_of(feros, "component", "list", "--json") or "[]"),
        "poses": poses,
    }


def observe(feros, command, environment, log):
    """Starts the robot; returns the seconds until it is up, and its graph when nothing has changed
    for three looks."""
    begin = time.monotonic()
    with open(log, "w") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        while not is_up(feros):
            if process.poll() is not None or time.monotonic() > begin + SECONDS:
                sys.exit(f"{log.read_text()}compare_bringup: error: the robot is not up")
        seconds = time.monotonic() - begin
        graphs = [graph_of(feros)]
        while len(graphs) < 3 or graphs[-3:] != [graphs[-1]] * 3:
            if time.monotonic() > begin + SECONDS:
                sys.exit("compare_bringup: error: the graph does not come to rest")
            graphs.append(graph_of(feros))
        return seconds, graphs[-1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def differences(path, ours, theirs):
    """The places at which two graphs differ, one a line."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs}):
            yield from differences(f"{path} {name}", ours.get(name), theirs.get(name))
    elif ours != theirs:
        yield f"{path}: feros has {ours}, stock has {theirs}"


def main():
    """Compares the graphs, and fails if they differ."""
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    feros, stock = sys.argv[1:3]
    prefix = Path(sys.argv[3]).resolve()
    path = f"{Path(feros).resolve().parent}:{os.environ['PATH']}"
    plain = {name: value for name, value in os.environ.items()
             if name not in ("PYTHONPATH", "AMENT_PREFIX_PATH")} | {"PATH": path}
    stock_paths = {name: os.environ.get(name, "") for name in ("PYTHONPATH", "AMENT_PREFIX_PATH")}
    file = prefix / "share/robot_bringup/launch/robot.launch.py"
    sourced = ["bash", "-c", f'source "{prefix}/setup.bash"; exec "$@"', "bash"]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        plain["ROS_LOG_DIR"] = folder
        os.environ["FEROS_PREFIX_PATH"] = str(prefix)  # for the types of the robot's messages
        own = plain | {"FEROS_PREFIX_PATH": str(prefix)}
        theirs = plain | stock_paths
        for name, command, environment in (
            ("feros", [feros, "launch", str(file)], own),
            ("stock", [*sourced, stock, "-c", STOCK, str(file)], theirs),
        ):
            log = Path(folder) / f"{name}.log"
            seconds, found[name] = observe(feros, command, environment, log)
            nodes = found[name]["nodes"].values()
            endpoints = sum(len(kind) for node in nodes for kind in node.values()
                            if isinstance(kind, dict))
            lines = sum(text.count("\n") for text in found[name]["parameters"].values())
            print(f"{name}: up after {seconds:.1f} s; {len(nodes)} nodes, {endpoints} endpoints,"
                  f" {lines} lines of parameters")
    told = list(differences("", found["feros"], found["stock"]))
    print("\n".join(told) or "the graphs are the same")
    sys.exit(1 if told else 0)


if __name__ == "__main__":
    main()
