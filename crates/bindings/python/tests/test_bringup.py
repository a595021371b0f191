"""The robot of `examples/bringup` with the wheel alone: `feros build` without its packages in Rust,
which need a compiler and are tested by `component_build`, and its launch file."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from feros.msgs.sensor_msgs.msg import LaserScan
from feros.tf2 import Buffer, TransformListener

EXAMPLE = Path(__file__).parents[4] / "examples/bringup"
NODES = ["/robot/joint_state_publisher", "/robot/lidar", "/robot/lidar_mount", "/robot/limiter",
         "/robot/robot_state_publisher"]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The prefix, without the packages in Rust."""
    command = Path(sysconfig.get_path("scripts")) / "feros"
    if not command.is_file():
        pytest.skip("not installed from a wheel")
    folder = tmp_path_factory.mktemp("bringup")
    for package in EXAMPLE.iterdir():
        if (package / "package.xml").is_file() and not (package / "Cargo.toml").exists():
            shutil.copytree(package, folder / package.name)
    subprocess.run([command, "build", folder, "--build-dir", folder / "cache"], check=True)
    return folder / "install"


@pytest.fixture(autouse=True)
def named(prefix, monkeypatch):
    """The one variable that users set; and the folder of this Python, with its xacro."""
    monkeypatch.setenv("FEROS_PREFIX_PATH", str(prefix))
    scripts = sysconfig.get_path("scripts")
    monkeypatch.setenv("PATH", scripts + os.pathsep + os.environ["PATH"])


def test_the_robot_starts_without_its_base(ros):
    if shutil.which("xacro") is None:
        pytest.skip("xacro is missing: pip install xacro")
    robot = ros.launch("robot_bringup", "robot.launch.py", base="false", track=0.5)
    assert len(robot.processes) == len(NODES)
    scan = ros.expect_message("/robot/front/scan", LaserScan)
    assert scan.header.frame_id == "lidar"
    buffer = Buffer()
    TransformListener(buffer, ros.node)
    # From the lidar by its launch file to a wheel by the description.
    ros.wait_until(lambda: buffer.can_transform("lidar", "left_wheel"), "the pose of the wheel")
    for name in NODES:
        ros.wait_for_node(name)
    robot.end()
    assert all(process.was_asked for process in robot.processes.values())


def test_the_tests_of_a_package_pass(prefix):
    tests = prefix.parent / "robot_safety/test"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0 and "1 passed" in ended.stdout, ended.stdout + ended.stderr
