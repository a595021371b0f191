"""Starts the whole robot below a namespace."""

from pathlib import Path

from ament_index_python import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Describes the robot."""
    share = FindPackageShare("robot_bringup")
    description = Path(get_package_share_directory("robot_description"), "urdf", "robot.urdf")
    config = PathJoinSubstitution([share, "config", "robot.yaml"])
    return LaunchDescription([
        DeclareLaunchArgument("name", default_value="robot", description="The robot's namespace"),
        DeclareLaunchArgument("limits", default_value="true", description="Limit the speed"),
        GroupAction([
            PushRosNamespace(LaunchConfiguration("name")),
            IncludeLaunchDescription(PathJoinSubstitution([share, "launch", "base.launch.xml"])),
            Node(
                package="robot_report",
                executable="limiter",
                parameters=[config],
                condition=IfCondition(LaunchConfiguration("limits")),
            ),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": description.read_text(encoding="utf-8")}],
            ),
        ]),
    ])
