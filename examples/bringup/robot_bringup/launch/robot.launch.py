"""Starts the whole robot below a namespace."""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    GroupAction,
    IncludeLaunchDescription,
    RegisterEventHandler,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node, PushRosNamespace
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition


def change(node, transition):
    """Requests a transition of a managed node."""
    return EmitEvent(event=ChangeState(
        lifecycle_node_matcher=matches_action(node), transition_id=transition))


def battery():
    """The managed node of the battery, which is configured and then activated."""
    node = LifecycleNode(package="robot_base", executable="battery", name="battery", namespace="")
    return [
        RegisterEventHandler(OnProcessStart(
            target_action=node, on_start=[change(node, Transition.TRANSITION_CONFIGURE)])),
        RegisterEventHandler(OnStateTransition(
            target_lifecycle_node=node, start_state="configuring", goal_state="inactive",
            entities=[change(node, Transition.TRANSITION_ACTIVATE)])),
        node,
    ]


def generate_launch_description():
    """Describes the robot."""
    share = FindPackageShare("robot_bringup")
    config = PathJoinSubstitution([share, "config", "robot.yaml"])
    xacro = PathJoinSubstitution(
        [FindPackageShare("robot_description"), "urdf", "robot.urdf.xacro"])
    description = ParameterValue(
        Command(["xacro ", xacro, " track:=", LaunchConfiguration("track")]), value_type=str)
    return LaunchDescription([
        DeclareLaunchArgument("name", default_value="robot", description="The robot's namespace"),
        DeclareLaunchArgument("limits", default_value="true", description="Limit the speed"),
        DeclareLaunchArgument(
            "track", default_value="0.4", description="The distance between the wheels, in m"),
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
                parameters=[{"robot_description": description}],
            ),
            *battery(),
        ]),
    ])
