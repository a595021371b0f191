"""Graph queries of nodes of the package rclpy: actions, parameter events, type descriptions."""

import rclpy
from rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels
from rcl_interfaces.msg import LoggerLevel
from rclpy.action import (
    ActionClient,
    ActionServer,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from rclpy.context import Context
from rclpy.endpoint_info import EndpointTypeEnum
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import Parameter
from rclpy.parameter_event_handler import ParameterEventHandler
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger
from test_msgs.action import Fibonacci
from test_msgs.msg import BasicTypes
from type_description_interfaces.srv import GetTypeDescription

import pytest

ACTION = ("/count", ["test_msgs/action/Fibonacci"])


def test_actions_of_the_graph(node):
    ActionServer(node, Fibonacci, "count", lambda goal: Fibonacci.Result())
    assert ACTION in get_action_names_and_types(node)
    assert get_action_server_names_and_types_by_node(node, "tested", "/") == [ACTION]
    assert get_action_client_names_and_types_by_node(node, "tested", "/") == []
    ActionClient(node, Fibonacci, "count")
    assert get_action_client_names_and_types_by_node(node, "tested", "/") == [ACTION]
    with pytest.raises(NodeNameNonExistentError):
        get_action_server_names_and_types_by_node(node, "nobody", "/")


def test_events_of_parameters_call_the_newest_callback_first(node, eventually):
    other, calls = rclpy.create_node("other"), []
    other.declare_parameter("speed", 1.0)
    other.declare_parameter("name", "robot")
    handler = ParameterEventHandler(node)

    def remember(name):
        return lambda parameter: calls.append((name, parameter.value.double_value))

    first = handler.add_parameter_callback("speed", "other", remember("first"))
    handler.add_parameter_callback("speed", "/other", remember("second"))
    events = []
    heard = handler.add_parameter_event_callback(lambda event: events.append(event.node))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(other)
    subscription = handler.parameter_event_subscription
    eventually(lambda: subscription.get_publisher_count() >= 2)

    def set_speed(value):
        other.set_parameters([Parameter("speed", value=value)])
        before = len(events)
        eventually(lambda: len(events) > before, lambda: executor.spin_once(0.1))

    set_speed(2.0)
    assert calls == [("second", 2.0), ("first", 2.0)]
    assert events[-1] == "/other"
    handler.remove_parameter_callback(first)
    with pytest.raises(RuntimeError):
        handler.remove_parameter_callback(first)
    set_speed(3.0)
    assert calls[2:] == [("second", 3.0)]
    assert handler.configure_nodes_filter(["tested"])
    other.set_parameters([Parameter("speed", value=4.0)])
    node.declare_parameter("mine", 1)
    eventually(lambda: events[-1] == "/tested", lambda: executor.spin_once(0.1))
    assert calls[3:] == []
    handler.remove_parameter_event_callback(heard)
    with pytest.raises(RuntimeError):
        handler.remove_parameter_event_callback(heard)
    handler.destroy()
    executor.shutdown()


def _ask(node, kind, name, request):
    client = node.create_client(kind, name)
    assert client.wait_for_service(60.0)
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=60)
    return future.result()


def test_a_node_describes_the_types_of_its_endpoints(node):
    node.create_publisher(BasicTypes, "basic", 10)
    known = node.get_publishers_info_by_topic("basic")[0]
    response = _ask(node, GetTypeDescription, "tested/get_type_description",
                    GetTypeDescription.Request(
                        type_name="test_msgs/msg/BasicTypes",
                        type_hash=str(known.topic_type_hash)))
    assert response.successful, response.failure_reason
    assert response.type_description.type_description.type_name == "test_msgs/msg/BasicTypes"


def test_levels_of_loggers_are_set_by_others(node):
    logged = rclpy.create_node("logged", enable_logger_service=True)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(logged)

    def ask(kind, name, request):
        client = node.create_client(kind, f"logged/{name}")
        assert client.wait_for_service(60.0)
        future = client.call_async(request)
        executor.spin_until_future_complete(future, 60)
        return future.result()

    wanted = [LoggerLevel(name="logged", level=40), LoggerLevel(name="rcl", level=22)]
    results = ask(SetLoggerLevels, "set_logger_levels",
                  SetLoggerLevels.Request(levels=wanted)).results
    assert [one.successful for one in results] == [True, False]
    assert results[0].reason == ""
    levels = ask(GetLoggerLevels, "get_logger_levels",
                 GetLoggerLevels.Request(names=["logged", "never_set"])).levels
    assert [(one.name, one.level) for one in levels] == [("logged", 40), ("never_set", 0)]
    assert logged.get_logger().get_effective_level() == 40
    executor.shutdown()


def test_endpoint_info_refuses_values_of_other_types(node):
    node.create_publisher(BasicTypes, "chatter", 1)
    (info,) = node.get_publishers_info_by_topic("/chatter")
    info.endpoint_gid = [1] * 16
    for wrong in (bytes(16), ["1"] * 16):
        with pytest.raises(AssertionError):
            info.endpoint_gid = wrong
    with pytest.raises(AssertionError):
        info.node_name = 1


def test_clients_and_servers_are_counted_and_not_their_nodes(node, eventually):
    clients = [node.create_client(Trigger, "pull") for _ in range(3)]
    servers = [node.create_service(Trigger, "pull", lambda _, response: response) for _ in range(2)]
    eventually(lambda: (node.count_clients("pull"), node.count_services("pull")) == (3, 2))
    node.destroy_client(clients[0])
    node.destroy_service(servers[0])
    eventually(lambda: (node.count_clients("pull"), node.count_services("pull")) == (2, 1))
    assert node.count_clients("other") == 0


def test_clients_and_servers_of_a_service_are_described(node, eventually):
    assert node.get_clients_info_by_service("pull") == []
    assert node.get_servers_info_by_service("pull") == []
    node.create_client(Trigger, "pull", qos_profile=QoSProfile(depth=7))
    eventually(lambda: node.count_clients("pull") == 1)
    assert node.get_servers_info_by_service("pull") == []
    node.create_service(Trigger, "pull", lambda _, response: response)
    eventually(lambda: node.count_services("pull") == 1)
    (client,) = node.get_clients_info_by_service("pull")
    (server,) = node.get_servers_info_by_service("/pull")
    for info, kind in ((client, EndpointTypeEnum.CLIENT), (server, EndpointTypeEnum.SERVER)):
        assert (info.node_name, info.node_namespace) == ("tested", "/")
        assert (info.service_type, info.endpoint_type) == ("std_srvs/srv/Trigger", kind)
        assert (info.endpoint_count, len(info.qos_profiles)) == (1, 1)
        assert [len(gid) for gid in info.endpoint_gids] == [16]
        assert f"Endpoint type: {kind.name}\nEndpoint count: 1\nGID: " in str(info)
    assert client.endpoint_gids != server.endpoint_gids
    assert client.qos_profiles[0].reliability.name == "RELIABLE"
    assert client == client and client != server
    with pytest.raises(AssertionError):
        client.qos_profiles = ["reliable"]
    with pytest.raises(AssertionError):
        client.endpoint_gids = [1, 2]
    with pytest.raises(ValueError, match="is invalid"):
        node.get_servers_info_by_service("13")
    with pytest.raises(NotImplementedError):
        node.get_clients_info_by_service("pull", no_mangle=True)


def test_init_returns_an_object_with_the_context():
    mine = Context()
    with rclpy.init(args=[], context=mine) as init:
        assert init.context is mine and mine.ok()
    assert not mine.ok()
