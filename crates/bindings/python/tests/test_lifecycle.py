"""Managed nodes: their callbacks, and the messages that they send in each state, with stock ROS 2
on the other side."""

import pytest

import feros
from feros.lifecycle import (
    CallbackReturn,
    ChangeStateError,
    LifecycleClient,
    LifecycleNode,
    State,
)
from feros.msgs.std_msgs.msg import String


class Managed(LifecycleNode):
    """Records the callbacks that are called, and ends each callback with the outcome that was set
    for it."""

    def __init__(self, name, context, **returns):
        self.called, self.returns = [], returns
        super().__init__(name, context=context)

    def _note(self, name, previous):
        self.called.append((name, previous))
        returned = self.returns.get(name)
        if isinstance(returned, BaseException):
            raise returned
        return returned

    def on_configure(self, previous):
        return self._note("configure", previous)

    def on_activate(self, previous):
        return self._note("activate", previous)

    def on_deactivate(self, previous):
        return self._note("deactivate", previous)

    def on_cleanup(self, previous):
        return self._note("cleanup", previous)

    def on_shutdown(self, previous):
        return self._note("shutdown", previous)

    def on_error(self, previous):
        return self._note("error", previous) or CallbackReturn.FAILURE


def test_transitions_call_back(context):
    node = Managed("managed", context)
    assert node.state == State.UNCONFIGURED
    assert [t.label for t in node.available_transitions()] == ["configure", "shutdown"]
    assert node.configure() == State.INACTIVE
    assert node.activate() == State.ACTIVE
    assert node.deactivate() == State.INACTIVE
    assert node.trigger_transition(2) == State.UNCONFIGURED
    with pytest.raises(ChangeStateError, match="has no transition \"activate\" in state unconfig"):
        node.activate()
    (shutdown,) = [t for t in node.available_transitions() if t.label == "shutdown"]
    assert node.trigger_transition(shutdown) == State.FINALIZED
    assert node.called == [
        ("configure", State.UNCONFIGURED), ("activate", State.INACTIVE),
        ("deactivate", State.ACTIVE), ("cleanup", State.INACTIVE),
        ("shutdown", State.UNCONFIGURED),
    ]


def test_a_callback_that_fails_raises_or_returns_nonsense(context, capfd):
    node = Managed("failing", context, configure=CallbackReturn.FAILURE)
    with pytest.raises(ChangeStateError, match="unconfigured: the callback of .* failed"):
        node.configure()
    node.returns = {"configure": ValueError("no camera"), "error": CallbackReturn.SUCCESS}
    with pytest.raises(ChangeStateError, match="unconfigured: the callback of .* had an error"):
        node.configure()
    assert capfd.readouterr().err.count("ValueError: no camera") == 2  # the traceback, and the log
    node.returns["configure"] = 5
    with pytest.raises(ChangeStateError):
        node.configure()
    assert "5 is not a CallbackReturn" in capfd.readouterr().err
    node.returns = {"configure": KeyboardInterrupt()}
    with pytest.raises(ChangeStateError, match="finalized"):
        node.configure()


def test_publishers_send_while_the_node_is_active(context, eventually):
    node = Managed("sending", context)
    heard = []
    node.create_subscription(String, "managed", lambda m: heard.append(m.data), 10)
    publisher = node.create_lifecycle_publisher(String, "managed", 10)
    publisher.wait_for_subscriptions(1, 60)
    publisher.publish(String(data="before"))
    publisher.publish_serialized(feros.serialize(String(data="before")))
    assert (publisher.is_activated, publisher.dropped_while_inactive) == (False, 2)
    node.configure()
    node.activate()
    assert publisher.is_activated
    publisher.publish(String(data="active"))
    node.deactivate()
    publisher.publish(String(data="after"))
    assert publisher.dropped_while_inactive == 3
    with feros.Executor() as executor:
        executor.add_node(node)
        eventually(lambda: heard, lambda: executor.spin_once(0.1))
    assert heard == ["active"]
    node.destroy()
    with pytest.raises(feros.FerosError, match="destroyed"):
        publisher.publish(String())
    with pytest.raises(feros.FerosError, match="destroyed"):
        node.state


def test_others_manage_a_node(context):
    node = Managed("served", context)
    context.spin_in_background(node)
    other = context.create_node("manager")
    client = LifecycleClient(other, "/served")
    assert client.wait_for_node(60)
    assert client.change_state("configure").wait(60)
    assert client.change_state(3).wait(60)
    assert client.state().wait(60) == State.ACTIVE == node.state
    assert not client.change_state("cleanup").wait(60)
    assert {t.label for t in client.available_transitions().wait(60)} == {"deactivate", "shutdown"}


def test_stock_manages_ours_and_ours_stock(context, start, stock):
    peer = start("stock_lifecycle.py", python=stock)
    assert peer.hear() == "ready"
    node = Managed("ours_managed", context)
    context.spin_in_background(node)
    peer.say("activate ours")
    assert peer.hear() == "True True active"
    assert (node.state, len(node.called)) == (State.ACTIVE, 2)
    client = LifecycleClient(context.create_node("manager"), "/stock_managed")
    assert client.wait_for_node(60)
    assert client.change_state("configure").wait(60)
    (activate,) = [t for t in client.available_transitions().wait(60) if t.label == "activate"]
    assert client.change_state(activate).wait(60)
    assert client.state().wait(60) == State.ACTIVE
