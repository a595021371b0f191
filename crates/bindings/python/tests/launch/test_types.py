"""Launch files are checked by mypy."""

import subprocess
import sys

import pytest

TYPED = """
from typing import List, Optional

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity, Substitution
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.actions import OpaqueFunction, RegisterEventHandler, Shutdown, TimerAction
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import ComposableNodeContainer, Node, PushRosNamespace
from launch_ros.descriptions import ComposableNode, ParameterValue
from launch_ros.substitutions import FindPackageShare


class Upper(Substitution):
    def __init__(self, inner: Substitution) -> None:
        self.inner = inner

    def perform(self, context: LaunchContext) -> str:
        return self.inner.perform(context).upper()


def setup(context: LaunchContext, name: str) -> Optional[List[LaunchDescriptionEntity]]:
    rate: str = LaunchConfiguration("rate").perform(context)
    context.launch_configurations["rate"] = rate + name
    return [Node(package="demo", executable="talker", name=Upper(LaunchConfiguration("rate")))]


def generate_launch_description() -> LaunchDescription:
    rate = LaunchConfiguration("rate", default=5)
    node = Node(
        package="demo", executable="talker", output="screen", remappings=[("a", "b")],
        parameters=[{"rate": rate, "text": ParameterValue(rate, value_type=str)},
                    PathJoinSubstitution([FindPackageShare("demo"), "a.yaml"])],
        condition=IfCondition(LaunchConfiguration("on")), on_exit=Shutdown())
    description = LaunchDescription([
        DeclareLaunchArgument("rate", default_value="5", description="Hz"),
        OpaqueFunction(function=setup, args=["a"]),
        GroupAction([PushRosNamespace("left"), node]),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource([FindPackageShare("demo"), "/a.launch.py"]),
            launch_arguments={"rate": rate}.items()),
        ComposableNodeContainer(
            package="demo", executable="container", name="c", namespace="",
            composable_node_descriptions=[ComposableNode(package="demo", plugin="demo::C")]),
        RegisterEventHandler(OnProcessExit(
            target_action=node, on_exit=[TimerAction(period=1.0, actions=[Shutdown()])])),
    ])
    description.add_action(node)
    return description
"""


@pytest.fixture
def checked(compatible, tmp_path):
    """The output of mypy for a launch file, and whether it found nothing."""
    pytest.importorskip("mypy")
    environment = {"PATH": "", "MYPY_CACHE_DIR": str(tmp_path / "cache")}
    if "site-packages" not in compatible:  # mypy finds the packages of an installed wheel
        environment.update(MYPYPATH=compatible, PYTHONPATH=":".join(sys.path))

    def check(text):
        path = tmp_path / "robot.launch.py"
        path.write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(path)],
            capture_output=True, text=True, cwd=tmp_path, env=environment)
        return done.returncode == 0, done.stdout + done.stderr

    return check


def test_launch_files_are_checked_strictly(checked):
    is_fine, output = checked(TYPED)
    assert is_fine, output
    _, output = checked("from launch.actions import LogInfo\nLogInfo(msg=1)\n")
    assert "incompatible type" in output
