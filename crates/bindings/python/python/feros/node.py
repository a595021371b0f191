"""Nodes: a name that groups publishers, subscriptions, services, clients, timers and actions."""

from feros._gone import Gone
from feros._messages import message_type
from feros.clock import Clock, ClockType
from feros.endpoints import (
    Client,
    GuardCondition,
    Parameters,
    Publisher,
    Service,
    Subscription,
    Timer,
)
from feros.qos import as_tuple


def _nanos(seconds, what):
    nanos = round(seconds * 1_000_000_000)
    if nanos < 0:
        raise ValueError(f"{what} cannot be negative, but is {seconds} s")
    return nanos


def _schedule(group, priority, deadline):
    if group is None and not priority and deadline is None:
        return None
    return group, priority, None if deadline is None else _nanos(deadline, "a deadline")


def _takes_two(callback):
    """Returns whether a callback also takes the information about the message."""
    import inspect  # takes longer to load than this whole package

    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [
        p for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(positional) >= 2


class Node:
    """A node of the ROS graph.

    `namespace`, `arguments` (of this node alone), `parameter_overrides`, `enable_rosout`,
    `use_global_arguments`, `use_sim_time`, `allow_undeclared_parameters`,
    `automatically_declare_parameters_from_overrides`, `start_parameter_services` and
    `enable_logger_service` are as in stock ROS 2. The publishers, timers and other objects of the
    node exist until they or the node are destroyed.

    Raises `FerosError` if the name is not allowed.
    """

    def __init__(self, name, *, context, **options):
        self._node = self._make(context._context, name, options)
        self._context = context
        self._executor = None
        self._entities = []
        context._nodes.add(self)

    def _make(self, context, name, options):
        return context.create_node(name, **options)

    context = property(lambda self: self._context, doc="The context of the node.")
    name = property(lambda self: self._node.name, doc="The name of the node.")
    namespace = property(lambda self: self._node.namespace, doc="The namespace of the node.")
    fully_qualified_name = property(
        lambda self: self._node.fully_qualified_name, doc="The namespace and the name of the node."
    )
    clock = property(
        lambda self: Clock._of(self._node.clock), doc="The clock of the node, which shows ROS time."
    )
    parameters = property(
        lambda self: Parameters(self._node.parameters), doc="The parameters of the node."
    )

    @property
    def logger(self):
        """The logger of the node."""
        from feros.logging import Logger

        return Logger(self._node.logger_name)

    def now(self):
        """Returns the current ROS time in nanoseconds."""
        return self._node.clock.now()

    def header(self, frame_id=""):
        """Returns a `std_msgs/Header` with the current time and a frame."""
        from feros._messages import message_class

        header = message_class("std_msgs/msg/Header")
        return header(stamp=self.clock.now_message(), frame_id=frame_id)

    def create_publisher(self, cls, topic, qos=10, *, queue_depth=None, on_event=None):
        """Creates a publisher of a message class on a topic. With `queue_depth`, a separate thread
        sends the messages from a queue. `on_event(name, status)` is called for each event of the
        publisher."""
        return self._publisher(Publisher, cls, topic, qos, queue_depth, on_event)

    def _publisher(self, made, cls, topic, qos, queue_depth=None, on_event=None):
        inner = self._node.create_publisher(
            message_type(cls), topic, as_tuple(qos), queue_depth, on_event
        )
        return made(self, inner, cls)

    def create_subscription(
        self, cls, topic, callback, qos=10, *, raw=False, views=True, max_pinned=8,
        callback_group=None, priority=0, deadline=None, on_event=None,
        ignore_local_publications=False, log_lost_messages=True,
    ):
        """Creates a subscription that calls `callback(message)` or `callback(message, info)`.

        Sequences of numbers are read-only numpy arrays in the memory where the message was
        received; the message stays there as long as the arrays exist. At most `max_pinned` messages
        stay there at the same time; further messages are copied and counted. With `views=False` the
        sequences are independent `array.array`s. With `raw=True` the callback gets serialized
        bytes. `priority` and `deadline` (in seconds) are for executors with the policy of the same
        name.
        """
        inner = self._node.create_subscription(
            message_type(cls), topic, as_tuple(qos), callback, with_info=_takes_two(callback),
            raw=raw, views=views, max_pinned=max_pinned,
            schedule=_schedule(callback_group, priority, deadline), on_event=on_event,
            ignore_local=ignore_local_publications, log_lost=log_lost_messages,
        )
        return Subscription(self, inner)

    def subscribe(
        self, cls, topic, qos=10, *, depth=None, raw=False, views=True, max_pinned=8,
        with_info=False,
    ):
        """Returns the messages of a topic for asyncio: `async for message in node.subscribe(...)`.
        The last `depth` messages (by default the depth of the policies) wait to be taken; older
        messages are dropped and counted."""
        from feros._aio import Stream

        policies = as_tuple(qos)
        inner = self._node.create_inbox(
            message_type(cls), topic, policies, depth=depth or policies[1] or 1000, raw=raw,
            views=views, max_pinned=max_pinned,
        )
        self._context.spin_in_background(self)
        return Stream(inner, self._context, with_info)

    def create_service(
        self, cls, name, callback, qos=10, *, callback_group=None, priority=0, deadline=None
    ):
        """Creates a service server: `callback(request)` returns the response. A callback with two
        parameters also gets a responder, which answers now or later: `send(response)` raises if
        the client has left, and `answer(response)` logs it."""
        if _takes_two(callback):
            answer = callback
        else:
            def answer(request, responder):
                responder.answer(callback(request))

        inner = self._node.create_service(
            name, cls._feros_name, message_type(cls.Request), message_type(cls.Response),
            as_tuple(qos), answer, _schedule(callback_group, priority, deadline),
        )
        return Service(self, inner)

    def create_client(self, cls, name, qos=10):
        """Creates a client of a service."""
        inner = self._node.create_client(
            name, cls._feros_name, message_type(cls.Request), message_type(cls.Response),
            as_tuple(qos),
        )
        return Client(self, inner)

    def create_timer(
        self, period, callback, *, clock=None, callback_group=None, priority=0, deadline=None
    ):
        """Creates a timer that calls `callback()` every `period` seconds of a clock, by default of
        ROS time."""
        inner = self._node.create_timer(
            _nanos(period, "a period"), callback, None if clock is None else clock._clock,
            _schedule(callback_group, priority, deadline),
        )
        return Timer(self, inner)

    def create_wall_timer(self, period, callback, **options):
        """Creates a timer that calls `callback()` every `period` seconds of steady time."""
        return self.create_timer(period, callback, clock=Clock(ClockType.STEADY), **options)

    def create_guard_condition(self, callback):
        """Creates a guard condition: the executor calls `callback()` after each trigger."""
        return GuardCondition(self, self._node.create_guard_condition(callback))

    def create_callback_group(self, *, reentrant=False):
        """Creates a callback group. One callback of the group runs at a time. With `reentrant`,
        callbacks of different entities may run in parallel."""
        return self._node.create_callback_group(reentrant)

    def create_action_server(self, cls, name, execute, **options):
        """Creates a server of an action; see `feros.action.ActionServer`."""
        from feros.action import ActionServer

        return ActionServer(self, cls, name, execute, **options)

    def create_action_client(self, cls, name, **options):
        """Creates a client of an action; see `feros.action.ActionClient`."""
        from feros.action import ActionClient

        return ActionClient(self, cls, name, **options)

    def resolve_topic_name(self, name):
        """Returns the fully qualified name after remapping."""
        return self._node.resolve_topic_name(name)

    def resolve_service_name(self, name):
        """Returns the fully qualified name after remapping."""
        return self._node.resolve_service_name(name)

    def node_names(self):
        """Returns the name and namespace of each node."""
        return self._node.node_names()

    def topic_names_and_types(self):
        """Returns the types of each topic, by topic."""
        return self._node.topic_names_and_types()

    def service_names_and_types(self):
        """Returns the types of each service, by service."""
        return self._node.service_names_and_types()

    def action_names_and_types(self):
        """Returns the types of each action, by action."""
        return self._node.action_names_and_types()

    def publishers_info(self, topic):
        """Returns the information about each publisher of a topic, as dicts."""
        return self._node.publishers_info(topic)

    def subscriptions_info(self, topic):
        """Returns the information about each subscription of a topic, as dicts."""
        return self._node.subscriptions_info(topic)

    def wait_for_graph(self, condition, timeout=None, what="a change of the graph"):
        """Waits until `condition()` is true, and checks it again after each change of the graph;
        raises `TimeoutError` after `timeout` seconds."""
        self._node.wait_for_graph(condition, timeout, what)

    async def wait_for_graph_async(
        self, condition, timeout=None, what="a change of the graph"
    ):
        """Like `wait_for_graph`, in asyncio."""
        from feros import _aio

        await _aio.graph(self, condition, timeout, what)

    def _comes(self, condition, timeout, what):
        """Like `wait_for_graph`; returns whether the condition became true in time."""
        try:
            self.wait_for_graph(condition, timeout, what)
        except TimeoutError:
            return False
        return True

    async def _comes_async(self, condition, timeout, what):
        """Like `_comes`, in asyncio."""
        try:
            await self.wait_for_graph_async(condition, timeout, what)
        except TimeoutError:
            return False
        return True

    def destroy(self):
        """Destroys the node and all its objects."""
        for entity in list(self._entities):
            entity.destroy()
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.remove_node(self._node)
        self._context._nodes.discard(self)
        self._node = Gone("the Node was destroyed")

    def _end(self, why):
        for entity in self._entities:
            entity._end(why)
        self._entities.clear()
        self._executor, self._node = None, Gone(why)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.destroy()

    def __repr__(self):
        return f"<feros.Node {self.fully_qualified_name}>"
