"""Starts the lidar, which sits on the front of the robot."""

from launch import LaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Describes the driver, and the place of the lidar."""
    config = PathJoinSubstitution([FindPackageShare("robot_config"), "config", "robot.yaml"])
    return LaunchDescription([
        Node(
            package="robot_lidar",
            executable="driver",
            name="lidar",
            parameters=[config],
            remappings=[("scan", "front/scan")],
        ),
        Node(
            package="tf2_ros",
            executable="static_transform_publisher",
            name="lidar_mount",
            arguments=[
                "--x", "0.2", "--z", "0.1", "--frame-id", "base_link", "--child-frame-id", "lidar"],
        ),
    ])
