"""Managed nodes: other programs start, stop and clean them up step by step, as in stock ROS 2.

    class Driver(feros.lifecycle.LifecycleNode):
        def on_configure(self, previous):
            self.scan = self.create_lifecycle_publisher(LaserScan, "scan")

    with feros.Context() as context:
        feros.spin(Driver("driver", context=context))  # feros lifecycle set /driver configure
"""

import weakref
from enum import IntEnum

from feros._feros import ChangeStateError
from feros._gone import Gone
from feros._messages import service_class
from feros.action import Pending
from feros.endpoints import Publisher
from feros.node import Node

__all__ = [
    "CallbackReturn", "ChangeStateError", "LifecycleClient", "LifecycleNode", "LifecyclePublisher",
    "State", "Transition",
]


class State(IntEnum):
    """The state of a managed node."""

    UNKNOWN = 0
    UNCONFIGURED = 1
    INACTIVE = 2
    ACTIVE = 3
    FINALIZED = 4
    CONFIGURING = 10
    CLEANINGUP = 11
    SHUTTINGDOWN = 12
    ACTIVATING = 13
    DEACTIVATING = 14
    ERRORPROCESSING = 15

    @property
    def label(self):
        """The label, as in stock ROS 2."""
        return self.name.lower()


class CallbackReturn(IntEnum):
    """The result of a transition's callback."""

    SUCCESS = 97
    FAILURE = 98
    ERROR = 99


class Transition(tuple):
    """A transition between two states: `(id, label, start, goal)`."""

    __slots__ = ()

    def __new__(cls, id, label, start, goal):
        return super().__new__(cls, (id, label, State(start), State(goal)))

    id = property(lambda self: self[0], doc="The number of the transition.")
    label = property(lambda self: self[1], doc="The name of the transition.")
    start = property(lambda self: self[2], doc="The state before the transition.")
    goal = property(lambda self: self[3], doc="The state after the transition.")

    def __repr__(self):
        return f"<{self.label} [{self.id}]: {self.start.label} -> {self.goal.label}>"


class LifecyclePublisher(Publisher):
    """Publishes while its node is active. Messages at other times are dropped and counted, and a
    warning is logged once until the node is active again."""

    def __init__(self, node, inner, cls):
        super().__init__(node, inner, cls)
        self._send = self.publish
        self.publish = self._publish
        self.dropped_while_inactive = 0
        self._has_warned = False

    def _admits(self):
        if self._node._lifecycle.is_activated:
            self._has_warned = False
            return True
        self.dropped_while_inactive += 1
        if not self._has_warned:
            self._has_warned = True
            self._node.logger.warning(
                f"Trying to publish message on the topic '{self.topic_name}', but the publisher is"
                " not activated: the message is dropped, like all messages until the node is active"
            )
        return False

    def _publish(self, message):
        if self._admits():
            self._send(message)

    def publish_serialized(self, data):
        """Like `Publisher.publish_serialized`, while the node is active."""
        if self._admits():
            super().publish_serialized(data)

    @property
    def is_activated(self):
        """Whether the publisher sends messages now."""
        return self._node._lifecycle.is_activated

    def _end(self, why):
        super()._end(why)
        vars(self).pop("_send", None)


class LifecycleNode(Node):
    """A managed node: a `Node` with a life cycle.

    Override `on_configure`, `on_cleanup`, `on_activate`, `on_deactivate`, `on_shutdown` and
    `on_error`: each gets the previous state of the node, and returns a `CallbackReturn`, or nothing
    for success. An exception is printed, and ends the transition with an error. The callbacks run
    on the thread that triggers the transition, or, for requests of other programs, on the thread on
    which the executor runs the services. With `enable_communication_interface=False`, the node does
    not have these services.
    """

    def __init__(self, name, *, context, **options):
        super().__init__(name, context=context, **options)

    def _make(self, context, name, options):
        itself = weakref.ref(self)

        def run(callback, previous):
            node = itself()
            if node is None:
                return CallbackReturn.SUCCESS
            returned = getattr(node, callback)(State(previous))
            return int(CallbackReturn.SUCCESS if returned is None else returned)

        self._lifecycle = context.create_lifecycle_node(name, run, **options)
        return self._lifecycle.node()

    def on_configure(self, previous):
        """Prepares the resources of the node."""

    def on_cleanup(self, previous):
        """Releases these resources."""

    def on_activate(self, previous):
        """Starts the work of the node."""

    def on_deactivate(self, previous):
        """Stops the work of the node."""

    def on_shutdown(self, previous):
        """Ends the work of the node permanently."""

    def on_error(self, previous):
        """Runs after an error in another callback. After success the node is unconfigured,
        otherwise finalized."""
        return CallbackReturn.FAILURE

    @property
    def state(self):
        """The current state."""
        return State(self._lifecycle.state)

    def available_transitions(self):
        """Returns the transitions from the current state."""
        return [Transition(*each) for each in self._lifecycle.transitions()]

    def create_lifecycle_publisher(self, cls, topic, qos=10, **options):
        """Like `create_publisher`, but the publisher only sends while the node is active."""
        return self._publisher(LifecyclePublisher, cls, topic, qos, **options)

    def trigger_transition(self, transition):
        """Runs a transition, which is given as a number, a label or a `Transition`; returns the
        state after it.

        Raises `ChangeStateError` if there is no such transition now, or its callback did not
        succeed.
        """
        wanted = transition.id if isinstance(transition, Transition) else transition
        return State(self._lifecycle.trigger_transition(wanted))

    def configure(self):
        """Runs the transition `configure`, like `trigger_transition`."""
        return self.trigger_transition("configure")

    def cleanup(self):
        """Runs the transition `cleanup`, like `trigger_transition`."""
        return self.trigger_transition("cleanup")

    def activate(self):
        """Runs the transition `activate`, like `trigger_transition`."""
        return self.trigger_transition("activate")

    def deactivate(self):
        """Runs the transition `deactivate`, like `trigger_transition`."""
        return self.trigger_transition("deactivate")

    def shutdown(self):
        """Runs the transition `shutdown`, like `trigger_transition`."""
        return self.trigger_transition("shutdown")

    def destroy(self):
        """Destroys the node and all its objects. No lifecycle callback is called."""
        super().destroy()
        self._lifecycle = Gone("the LifecycleNode was destroyed")

    def _end(self, why):
        super()._end(why)
        self._lifecycle = Gone(why)


class LifecycleClient:
    """Manages a node of this or another program. Await the answers, or `wait` for them."""

    def __init__(self, node, name):
        self._node, self._name = node, name
        self._change_state = node.create_client(
            service_class("lifecycle_msgs/srv/ChangeState"), f"{name}/change_state"
        )
        self._get_state = node.create_client(
            service_class("lifecycle_msgs/srv/GetState"), f"{name}/get_state"
        )
        self._transitions = node.create_client(
            service_class("lifecycle_msgs/srv/GetAvailableTransitions"),
            f"{name}/get_available_transitions",
        )

    def wait_for_node(self, timeout=None):
        """Waits until the node exists, for at most `timeout` seconds; returns whether the node
        exists."""
        return self._node._comes(self._is_there, timeout, self._name)

    async def wait_for_node_async(self, timeout=None):
        """Like `wait_for_node`, in asyncio."""
        return await self._node._comes_async(self._is_there, timeout, self._name)

    def _is_there(self):
        clients = (self._change_state, self._get_state, self._transitions)
        return all(client.service_is_ready() for client in clients)

    def state(self):
        """Returns the `State` of the node."""
        request = service_class("lifecycle_msgs/srv/GetState").Request()
        return Pending(
            self._get_state.call(request), lambda response: State(response.current_state.id)
        )

    def available_transitions(self):
        """Returns the transitions from the current state of the node."""
        request = service_class("lifecycle_msgs/srv/GetAvailableTransitions").Request()

        def finish(response):
            return [
                Transition(t.transition.id, t.transition.label, t.start_state.id, t.goal_state.id)
                for t in response.available_transitions
            ]

        return Pending(self._transitions.call(request), finish)

    def change_state(self, transition):
        """Requests a transition, which is given as a number, a label or a `Transition`; the answer
        is whether the transition succeeded."""
        request = service_class("lifecycle_msgs/srv/ChangeState").Request()
        wanted = transition.id if isinstance(transition, Transition) else transition
        if isinstance(wanted, str):
            request.transition.label = wanted
        else:
            request.transition.id = wanted
        return Pending(self._change_state.call(request), lambda response: response.success)

    def destroy(self):
        """Ends the client."""
        for client in (self._change_state, self._get_state, self._transitions):
            client.destroy()
