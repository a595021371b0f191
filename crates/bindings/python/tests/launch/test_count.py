"""The count of what launch files use finds what Feros has, and what it lacks."""

import subprocess
import sys

FILE = """
import os
import launch.actions
import launch_testing.actions
from launch import LaunchDescription, LaunchService
from launch.actions import ExecuteProcess as Process, OpaqueCoroutine
from launch_ros import actions
from launch_ros.actions import Node


def generate_launch_description():
    LaunchService(argv=[])
    OpaqueCoroutine(coroutine=None)
    return LaunchDescription([
        Process(cmd=['ls'], log_cmd=True, shell=True),
        launch.actions.TimerAction(period=1.0, actions=[]),
        launch_testing.actions.ReadyToTest(),
        Node(package='p', node_executable='e', **os.environ),
        actions.Node(package='p', executable='e', output='screen'),
        actions.Absent(),
    ])
"""


def test_names_are_counted(repository, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "robot.launch.py").write_text(FILE)
    (tmp_path / "b_launch.py").write_text("from launch import LaunchDescription\n")
    (tmp_path / "c.launch.py").write_text("print 'Python 2'\n")
    (tmp_path / "other.py").write_text("from launch.actions import Shutdown\n")
    done = subprocess.run(
        [sys.executable, repository / "scripts/count_launch_names.py", tmp_path],
        capture_output=True, text=True, timeout=120, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "2 files, of which 1 are tests; 1 others are no Python 3"
    shares = [line for line in lines if line.startswith(("| imports |", "| keywords |"))]
    assert shares == [
        "| imports | 8 | 9 | 6 | 66.67 % |",
        "| keywords | 11 | 12 | 8 | 66.67 % |",
        "| imports | 1 | 1 | 1 | 100.00 % |",
        "| keywords | 0 | 0 | 0 | 100.00 % |",
    ]
    tables = done.stdout.split("| missing |")[1].split("| there |")
    missing, there = ({line.split("`")[1]: line for line in table.splitlines() if "`" in line}
                      for table in tables)
    assert set(missing) == {
        "launch.LaunchService", "launch.LaunchService(argv=)", "launch.actions.OpaqueCoroutine",
        "launch.actions.OpaqueCoroutine(coroutine=)", "launch.actions.ExecuteProcess(log_cmd=)",
        "launch_ros.actions.Absent", "launch_ros.actions.Node(node_executable=)",
        "launch_testing.actions", "launch_testing.actions.ReadyToTest"}
    assert "| 1 | 1 | 1 | 0 | Feros has no LaunchService" in missing["launch.LaunchService"]
    assert "write `executable`" in missing["launch_ros.actions.Node(node_executable=)"]
    assert "`launch_ros.actions` has no `Absent`" in missing["launch_ros.actions.Absent"]
    assert "| 2 | 2 | 1 | 0 |" in there["launch.LaunchDescription"]
    assert "| 1 | 0 | 0 | 2 |" in there["launch_ros.actions.Node(package=)"]
