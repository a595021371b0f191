"""Nodes of the package rclpy: names, their use by scripts, refused arguments."""

import warnings

import pytest
import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidServiceNameException, InvalidTopicNameException
from rclpy.executors import MultiThreadedExecutor, ShutdownException, SingleThreadedExecutor
from rclpy.expand_topic_name import expand_topic_name
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.subscription import RCLError
from rclpy.task import Future
from std_msgs.msg import String

# Names that scripts give to their own attributes and methods, and that stock's Node does not have.
OF_SCRIPTS = (
    "_native", "_executor", "_entities", "_name", "_namespace", "_make", "_keep", "_end", "_leave",
    "_validate", "_resolve", "_made", "_handlers", "_check", "_store", "_tell", "_declared", "_infos",
    "_pre_set", "_on_set", "_post_set", "_state", "_returned", "_loop", "_tasks", "_lifecycle",
)


@pytest.mark.parametrize("kind", [Node, LifecycleNode])
def test_scripts_may_use_names_of_their_own(node, kind, spin_until, eventually):
    namespace = {name: lambda self, *_: "a script's" for name in OF_SCRIPTS}
    mine = type("Mine", (kind,), namespace)("mine", parameter_overrides=[])
    for name in OF_SCRIPTS:
        setattr(mine, name, "a script's")
    heard = []
    mine.create_subscription(String, "chatter", lambda m: heard.append(m.data), 10)
    mine.declare_parameter("speed", 1.0)
    assert mine.get_name() == "mine"
    mine.create_publisher(String, "chatter", 10).publish(String(data="one"))
    eventually(lambda: heard, lambda: rclpy.spin_once(mine, timeout_sec=0.1))
    assert mine.count_publishers("chatter") == 1
    mine.destroy_node()


def test_names_that_cannot_be(node):
    with pytest.raises(ValueError, match="unknown substitution"):
        node.create_publisher(String, "chatter/{bad}", 1)
    with pytest.raises(ValueError, match="unknown substitution"):
        node.create_client(GetParameters, "chatter/{bad}")
    with pytest.raises(InvalidTopicNameException, match="not followed by a forward slash"):
        node.create_publisher(String, "~tail", 1)
    with pytest.raises(InvalidServiceNameException, match="repeated '/'"):
        node.create_client(GetParameters, "arm//state")
    with pytest.raises(ValueError, match="is invalid"):
        node.get_publishers_info_by_topic("13")
    with pytest.raises(TypeError):
        node.count_publishers(1)
    with pytest.raises(ValueError, match="node name"):
        expand_topic_name("topic", "no?de", "/")
    with pytest.raises(ValueError, match="namespace"):
        expand_topic_name("topic", "node", "/name space")
    assert expand_topic_name("~/{node}", "node", "/ns") == "/ns/node/node"
    with pytest.raises(RCLError, match="non-negative"):
        node.create_timer(-1.0, lambda: None)


def test_old_names_of_policies_warn():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        old = QoSReliabilityPolicy.RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT
        QoSDurabilityPolicy.RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL
    assert old is QoSReliabilityPolicy.BEST_EFFORT
    assert len(told) == 2 and "deprecated" in str(told[0].message)


def test_policies_that_do_not_fit_are_said_by_default(node, spin_until, monkeypatch):
    said = []

    class Logger:
        def get_child(self, name):
            return self

        def warn(self, text):
            said.append(text)

    monkeypatch.setattr(rclpy.logging, "_root_logger", Logger())
    volatile = QoSProfile(depth=10, durability=QoSDurabilityPolicy.VOLATILE)
    late = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, "chatter", volatile)
    subscription = node.create_subscription(String, "chatter", lambda _: None, late)
    assert len(publisher.event_handlers) == len(subscription.event_handlers) == 2
    spin_until(lambda: len(said) == 2)
    end = "Last incompatible policy: DURABILITY"
    assert sorted(said) == [
        "New publisher discovered on topic 'chatter', offering incompatible QoS. No messages will be"
        f" received from it. {end}",
        "New subscription discovered on topic 'chatter', requesting incompatible QoS. No messages will"
        f" be sent to it. {end}"]
    silent = PublisherEventCallbacks(use_default_callbacks=False)
    assert not node.create_publisher(String, "a", 1, event_callbacks=silent).event_handlers
    given = SubscriptionEventCallbacks(matched=print)
    subscription = node.create_subscription(String, "a", print, 1, event_callbacks=given)
    assert len(subscription.event_handlers) == 3


@pytest.mark.parametrize("kind", [SingleThreadedExecutor, MultiThreadedExecutor])
def test_a_callback_may_shut_its_executor_down(node, kind):
    executor, ended = kind(), Future()
    executor.add_node(node)

    def end():
        executor.shutdown()
        ended.set_result(None)

    node.create_guard_condition(end).trigger()
    executor.spin()
    while not ended.done():  # ends on a thread of the executor
        pass
    with pytest.raises(ShutdownException):
        executor.wait_for_ready_callbacks()
    with pytest.raises(ShutdownException):
        next(executor._wait_for_ready_callbacks())
    with pytest.raises(ShutdownException):
        executor.add_node(node)


def test_arguments_that_are_unknown():
    from rclpy.impl.implementation_singleton import rclpy_implementation

    with pytest.raises(rclpy_implementation.UnknownROSArgsError, match="bogus"):
        rclpy.init(args=["--ros-args", "--bogus"], context=rclpy.context.Context())
    with pytest.raises(rclpy_implementation.RCLError, match="remap|:="):
        rclpy.init(args=["--ros-args", "-r", "bad"], context=rclpy.context.Context())
    context = rclpy.context.Context()
    with rclpy.init(args=[], context=context):
        for arguments, kind, words in (
            (["--bogus"], rclpy_implementation.UnknownROSArgsError, r"\['--bogus'\]"),
            (["-r", "bad"], rclpy_implementation.RCLInvalidROSArgsError,
             "Failed to parse ROS arguments:.*bad"),
        ):
            with pytest.raises(kind, match=words):
                rclpy.create_node("told", context=context, cli_args=["--ros-args", *arguments])


def test_rosout_has_the_profile_that_is_asked_for():
    from rclpy.duration import Duration
    from rclpy.qos import LivelinessPolicy, QoSProfile, ReliabilityPolicy

    wanted = QoSProfile(
        depth=3, reliability=ReliabilityPolicy.BEST_EFFORT, deadline=Duration(seconds=1),
        lifespan=Duration(seconds=20), liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
        liveliness_lease_duration=Duration(seconds=5))
    context = rclpy.context.Context()
    with rclpy.init(args=[], context=context):
        silent = rclpy.create_node("silent", context=context, enable_rosout=False)

        def infos(node):
            found = silent.get_publishers_info_by_topic("/rosout")
            return [one for one in found if one.node_name == node]

        assert not infos("silent")
        told = rclpy.create_node("told", context=context, rosout_qos_profile=wanted)
        (info,) = infos(told.get_name())
        for policy in ("reliability", "durability", "deadline", "lifespan", "liveliness",
                       "liveliness_lease_duration"):
            assert getattr(info.qos_profile, policy) == getattr(wanted, policy)


def test_policies_are_declared_by_the_class_of_an_endpoint(node):
    from rclpy.publisher import Publisher
    from rclpy.qos import QoSPolicyKind, QoSProfile
    from rclpy.qos_overriding_options import (
        InvalidQosOverridesError,
        QosCallbackResult,
        QoSOverridingOptions,
        _declare_qos_parameters,
        _get_qos_policy_parameter,
    )

    options = QoSOverridingOptions.with_default_policies()
    for _ in range(2):
        _declare_qos_parameters(Publisher, node, "/topic", QoSProfile(depth=4), options)
    declared = node.get_parameters_by_prefix("qos_overrides")
    assert {name: one.value for name, one in declared.items()} == {
        "/topic.publisher.depth": 4, "/topic.publisher.history": "keep_last",
        "/topic.publisher.reliability": "reliable"}
    assert _get_qos_policy_parameter(QoSProfile(depth=4), QoSPolicyKind.LIFESPAN) == 0
    options = QoSOverridingOptions.with_default_policies(
        callback=lambda _: QosCallbackResult(successful=False, reason="not so"), entity_id="b")
    with pytest.raises(InvalidQosOverridesError, match="not so"):
        _declare_qos_parameters(Publisher, node, "/topic", QoSProfile(depth=4), options)


def test_classes_of_actions_take_types():
    from rclpy.action import ActionClient, ActionServer
    from rclpy.action.client import ClientGoalHandle
    from rclpy.action.server import ServerGoalHandle

    for kind in (ActionClient, ActionServer, ClientGoalHandle, ServerGoalHandle):
        assert kind[int, str, float].__args__ == (int, str, float)


def test_an_executor_of_somebody_else_is_told_of_its_node():
    from unittest.mock import Mock

    context = rclpy.context.Context()
    with rclpy.init(args=[], context=context):
        node, first, second = rclpy.create_node("told", context=context), Mock(), Mock()
        node.executor = first
        node.executor = second
        assert node.executor is second
        node.destroy_node()
        first.add_node.assert_called_once_with(node)
        first.remove_node.assert_called_once_with(node)
        second.add_node.assert_called_once_with(node)
        node = rclpy.create_node("told", context=context)
        node.executor = second
        node.executor = None
        assert node.executor is None


def test_a_node_remembers_who_spun_it_last(node):
    executor, other, done = SingleThreadedExecutor(), SingleThreadedExecutor(), []
    assert node.executor is None
    rclpy.spin_once(node, executor=executor, timeout_sec=0)
    assert node.executor is executor and node not in executor.get_nodes()
    task = node.executor.create_task(lambda: done.append("task"))
    rclpy.spin_until_future_complete(node, task, executor=executor)
    assert done == ["task"]
    assert other.add_node(node) and node.executor is other
    node.executor = None
    assert node.executor is None and node not in other.get_nodes()
    assert executor.add_node(node) and node.executor is executor


def test_parameters_are_set_up_to_the_first_that_is_unknown(node):
    from rclpy.exceptions import ParameterNotDeclaredException
    from rclpy.parameter import Parameter

    node.declare_parameters("", [("rate", 1), ("mode", "a"), ("mode", "b")])
    assert node.get_parameter("mode").value == "b"
    with pytest.raises(ParameterNotDeclaredException):
        node.set_parameters([Parameter("rate", value=2), Parameter("unknown", value=2)])
    assert node.get_parameter("rate").value == 2
    with pytest.raises(ParameterNotDeclaredException):
        node.set_parameters_atomically([Parameter("rate", value=3), Parameter("unknown", value=2)])
    assert node.get_parameter("rate").value == 2
    (result,) = node.set_parameters([Parameter("rate", value="fast")])
    assert not result.successful and result.reason.startswith("Wrong parameter type")
