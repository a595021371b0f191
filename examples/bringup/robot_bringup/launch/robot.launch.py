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
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node, PushRosNamespace
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition


def include(package, file, *arguments, **options):
    """Includes a launch file of a package, which gets our values of these arguments."""
    path = PathJoinSubstitution([FindPackageShare(package), "launch", file])
    values = [(name, LaunchConfiguration(name)) for name in arguments]
    return IncludeLaunchDescription(path, launch_arguments=values, **options)


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
    config = PathJoinSubstitution([FindPackageShare("robot_config"), "config", "robot.yaml"])
    return LaunchDescription([
        DeclareLaunchArgument("name", default_value="robot", description="The robot's namespace"),
        DeclareLaunchArgument("base", default_value="true", description="Start wheels and battery"),
        DeclareLaunchArgument("lidar", default_value="true", description="Start the lidar"),
        DeclareLaunchArgument("limits", default_value="true", description="Limit the speed"),
        DeclareLaunchArgument(
            "track", default_value="0.4", description="The distance between the wheels, in m"),
        GroupAction([
            PushRosNamespace(LaunchConfiguration("name")),
            include("robot_description", "description.launch.py", "track"),
            include(
                "robot_bringup", "lidar.launch.py",
                condition=IfCondition(LaunchConfiguration("lidar"))),
            Node(
                package="robot_safety",
                executable="limiter",
                parameters=[config],
                condition=IfCondition(LaunchConfiguration("limits")),
            ),
            GroupAction(
                [include("robot_bringup", "base.launch.xml", "track"), *battery()],
                condition=IfCondition(LaunchConfiguration("base")),
            ),
        ]),
    ])
