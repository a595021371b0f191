"""Managed nodes of the package rclpy."""

import rclpy
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import (
    LifecycleNode,
    LifecycleState,
    SimpleManagedEntity,
    TransitionCallbackReturn,
)
from rclpy.node import Node
from rclpy.subscription import RCLError
from std_msgs.msg import String

import pytest

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
ERROR = TransitionCallbackReturn.ERROR


class Told(LifecycleNode):
    """Records the callbacks that are called, and returns the values that were set for them."""

    def __init__(self, name, returns=None, **options):
        self.calls, self.returns = [], returns or {}
        super().__init__(name, **options)

    def _told(self, name, state):
        self.calls.append((name, state))
        returned = self.returns.get(name, SUCCESS)
        if isinstance(returned, Exception):
            raise returned
        return returned

    def on_configure(self, state):
        return self._told("configure", state)

    def on_activate(self, state):
        super().on_activate(state)
        return self._told("activate", state)

    def on_error(self, state):
        return self._told("error", state)


@pytest.fixture(autouse=True)
def initialized():
    with rclpy.init(args=[]):
        yield


def test_transitions_call_the_callbacks_with_the_state_before():
    node = Told("managed", enable_communication_interface=False)
    assert node.trigger_configure() == SUCCESS
    assert node.trigger_activate() == SUCCESS
    assert node.calls == [
        ("configure", LifecycleState("unconfigured", 1)), ("activate", LifecycleState("inactive", 2))]
    assert node.trigger_deactivate() == SUCCESS
    assert node.trigger_cleanup() == SUCCESS
    assert node.trigger_activate() == ERROR  # not allowed in this state
    assert node.trigger_shutdown() == SUCCESS
    with pytest.raises(RCLError):
        node.trigger_shutdown()


@pytest.mark.parametrize(("returns", "told", "end", "calls"), [
    ({"configure": FAILURE}, FAILURE, "unconfigured", ["configure"]),
    ({"configure": ERROR}, ERROR, "unconfigured", ["configure", "error"]),
    ({"configure": ERROR, "error": ERROR}, ERROR, "finalized", ["configure", "error"]),
    ({"configure": ValueError("of a callback")}, ERROR, "unconfigured", ["configure", "error"]),
    ({"configure": 5}, ERROR, "unconfigured", ["configure", "error"]),
])
def test_callbacks_without_success(returns, told, end, calls, capfd):
    node = Told("managed", returns, enable_communication_interface=False)
    assert node.trigger_configure() == told
    assert node._state_machine.current_state[1] == end
    assert [name for name, _ in node.calls] == calls
    if isinstance(returns["configure"], Exception):
        assert "of a callback" in capfd.readouterr().err


def test_a_publisher_sends_while_the_node_is_active(eventually):
    node, heard = LifecycleNode("managed", enable_communication_interface=False), []
    node.create_subscription(String, "chatter", lambda m: heard.append(m.data), 10)
    publisher = node.create_lifecycle_publisher(String, "chatter", 10)
    publisher.publish(String(data="too early"))
    assert (publisher.is_activated, publisher.dropped_while_inactive) == (False, 1)
    node.trigger_configure()
    node.trigger_activate()
    publisher.publish(String(data="active"))
    eventually(lambda: heard, lambda: rclpy.spin_once(node, timeout_sec=0.1))
    node.trigger_deactivate()
    publisher.publish(String(data="too late"))
    rclpy.spin_once(node, timeout_sec=0)
    assert (heard, publisher.dropped_while_inactive) == (["active"], 2)
    assert node.destroy_lifecycle_publisher(publisher)


def test_managed_entities_follow_their_node():
    class Entity(SimpleManagedEntity):
        worked = 0

        @SimpleManagedEntity.when_enabled
        def work(self):
            self.worked += 1

    node, entity = LifecycleNode("managed", enable_communication_interface=False), Entity()
    node.add_managed_entity(entity)
    entity.work()
    node.trigger_configure()
    node.trigger_activate()
    entity.work()
    assert (entity.is_activated, entity.worked) == (True, 1)
    with pytest.raises(TypeError):
        node.add_managed_entity(object())


def test_other_nodes_manage_it_by_services(eventually):
    node, other, events = Told("managed"), Node("other"), []
    other.create_subscription(TransitionEvent, "managed/transition_event", events.append, 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(other)

    def ask(kind, name, request):
        client = other.create_client(kind, f"managed/{name}")
        assert client.wait_for_service(60.0)
        future = client.call_async(request)
        executor.spin_until_future_complete(future, 60)
        return future.result()

    state = ask(GetState, "get_state", GetState.Request()).current_state
    assert (state.id, state.label) == (1, "unconfigured")
    request = ChangeState.Request()
    request.transition.id = Transition.TRANSITION_CONFIGURE
    assert ask(ChangeState, "change_state", request).success
    assert not ask(ChangeState, "change_state", request).success  # it already is
    request.transition.label = "activate"
    assert ask(ChangeState, "change_state", request).success
    known = ask(GetAvailableTransitions, "get_available_transitions",
                GetAvailableTransitions.Request()).available_transitions
    assert {one.transition.label for one in known} == {"deactivate", "shutdown"}
    graph = ask(GetAvailableTransitions, "get_transition_graph",
                GetAvailableTransitions.Request()).available_transitions
    assert len(graph) > len(known)
    eventually(lambda: len(events) == 4, lambda: executor.spin_once(0.1))
    assert [(one.start_state.label, one.goal_state.label) for one in events] == [
        ("unconfigured", "configuring"), ("configuring", "inactive"),
        ("inactive", "activating"), ("activating", "active")]
    executor.shutdown()


def test_no_interface_has_no_services():
    node = LifecycleNode("managed", enable_communication_interface=False)
    assert not [s for s in node.services if "state" in s.srv_name]
    with pytest.raises(TypeError):
        LifecycleNode("managed_too", enable_communication_interface="yes")
