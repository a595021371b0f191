"""Publishes the description of the robot, and where its wheels are."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Describes the two publishers."""
    xacro = PathJoinSubstitution(
        [FindPackageShare("robot_description"), "urdf", "robot.urdf.xacro"])
    description = Command(["xacro ", xacro, " track:=", LaunchConfiguration("track")])
    return LaunchDescription([
        DeclareLaunchArgument(
            "track", default_value="0.4", description="The distance between the wheels, in m"),
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[{"robot_description": ParameterValue(description, value_type=str)}],
            remappings=[("joint_states", "wheel_states")],
        ),
        Node(
            package="joint_state_publisher",
            executable="joint_state_publisher",
            parameters=[{"rate": 20}],
            remappings=[("joint_states", "wheel_states")],
        ),
    ])
