"""The objects that nodes create, such as publishers, subscriptions, services, clients and timers,
and the parameters of nodes."""

from feros._gone import Gone
from feros.qos import QoSProfile


class Endpoint:
    """An object that belongs to a node, and ends when it is destroyed."""

    def __init__(self, node, inner):
        self._node = node
        self._inner = inner
        node._entities.append(self)

    def destroy(self):
        """Destroys the object. Any later use is an error."""
        if self in self._node._entities:
            self._node._entities.remove(self)
        self._end(f"the {type(self).__name__} was destroyed")

    def _end(self, why):
        self._inner = Gone(why)

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


class TopicEndpoint(Endpoint):
    """A publisher or subscription."""

    @property
    def topic_name(self):
        """The fully qualified name of the topic."""
        return self._inner.topic_name

    @property
    def qos(self):
        """The policies in effect."""
        return QoSProfile._of(self._inner.qos)


class ServiceEndpoint(Endpoint):
    """A client or server."""

    @property
    def service_name(self):
        """The fully qualified name."""
        return self._inner.service_name

    @property
    def type_hash(self):
        """The hash of the service type, as `RIHS01_...`."""
        return self._inner.type_hash


class Publisher(TopicEndpoint):
    """Publishes messages of one type on one topic."""

    def __init__(self, node, inner, cls):
        super().__init__(node, inner)
        self.message_class = cls
        self.publish = inner.publish

    def publish(self, message):
        """Publishes a message.

        Raises `TypeError`, `ValueError` or `OverflowError` if a field has a wrong value, and
        `FerosError` if the message cannot be sent.
        """
        self._inner.publish(message)

    def publish_serialized(self, data):
        """Publishes a message that is already serialized, with its 4-byte header."""
        self._inner.publish_serialized(data)

    def loan(self, shape=None):
        """Lends memory for a message of this shape, to be filled and published. Matching
        subscriptions in other processes of this host read the message from the same memory.

        A shape is a dict with the number of elements of each sequence of numbers, the values of
        strings and lists, and dicts for nested messages. It may also have values for other fields.

            loan = publisher.loan({"data": 640 * 480 * 3, "encoding": "rgb8"})
            loan.height, loan.width = 480, 640
            loan.data[:] = 128
            loan.publish()
        """
        from feros.loan import Loan

        return Loan(*self._inner.loan(shape))

    @property
    def copied_loans(self):
        """The number of loans that were copied when published, because the program still
        held their arrays."""
        return self._inner.copied_loans

    @property
    def gid(self):
        """The identity of the publisher."""
        return self._inner.gid

    @property
    def subscription_count(self):
        """The number of subscriptions that match the publisher now."""
        return self._inner.subscription_count

    def wait_for_subscriptions(self, count=1, timeout=None):
        """Waits until `count` subscriptions match; raises `TimeoutError` after `timeout`
        seconds."""
        self._inner.wait_for_subscriptions(count, timeout)

    async def wait_for_subscriptions_async(self, count=1, timeout=None):
        """Like `wait_for_subscriptions`, in asyncio."""
        from feros import _aio

        what = f"{count} subscriptions of {self.topic_name}"
        await self._node.wait_for_graph_async(
            lambda: self.subscription_count >= count, timeout, what
        )
        await _aio.found_by_subscriptions(self._inner, count)

    def wait_for_all_acked(self, timeout=None):
        """Waits until reliable subscriptions have acknowledged all published messages; returns
        whether they have."""
        return self._inner.wait_for_all_acked(timeout)

    def assert_liveliness(self):
        """Asserts the liveliness of the publisher, for manual liveliness."""
        self._inner.assert_liveliness()

    def transports(self):
        """Returns the transport of each match, and the reason why the match does not use a faster
        transport."""
        return self._inner.transports()

    def counts(self):
        """Returns the deliveries by transport: intra-process, shared memory, network."""
        return self._inner.counts()

    def _end(self, why):
        super()._end(why)
        vars(self).pop("publish", None)


class Subscription(TopicEndpoint):
    """Receives messages of one type from one topic."""

    @property
    def publisher_count(self):
        """The number of publishers that match the subscription now."""
        return self._inner.publisher_count

    def wait_for_publishers(self, count=1, timeout=None):
        """Waits until `count` publishers match; raises `TimeoutError` after `timeout` seconds."""
        self._inner.wait_for_publishers(count, timeout)

    async def wait_for_publishers_async(self, count=1, timeout=None):
        """Like `wait_for_publishers`, in asyncio."""
        what = f"{count} publishers of {self.topic_name}"
        await self._node.wait_for_graph_async(lambda: self.publisher_count >= count, timeout, what)

    @property
    def refused_messages(self):
        """The number of received messages that did not have the subscription's type."""
        return self._inner.refused_messages

    @property
    def pinned_messages(self):
        """The number of messages that stay in the memory in which they arrived, because arrays
        refer to them."""
        return self._inner.pinned_messages

    @property
    def copied_messages(self):
        """The number of messages that were copied because arrays referred to too many messages."""
        return self._inner.copied_messages

    def counts(self):
        """Returns the messages by transport: intra-process, shared memory, network."""
        return self._inner.counts()


class Service(ServiceEndpoint):
    """Answers the requests of a service."""


class Call:
    """A call of a service: await it in asyncio, or block in `wait`. Neither needs an executor."""

    __slots__ = ("_call",)

    def __init__(self, call):
        self._call = call

    def wait(self, timeout=None):
        """Returns the response.

        Raises `TimeoutError` after `timeout` seconds, after which the caller may wait again, and
        `CallFailed` if there will be no response.
        """
        return self._call.wait(timeout)

    def cancel(self):
        """Cancels the call: its response is dropped."""
        self._call.cancel()

    def __await__(self):
        from feros import _aio

        return _aio.response(self._call).__await__()


class Client(ServiceEndpoint):
    """Calls a service. A server must be available: `wait_for_service` waits for a server."""

    def call(self, request):
        """Sends a request; returns a `Call`: await it, or `wait` for it.

        Raises `CallFailed` if there is no server.
        """
        return Call(self._inner.call(request))

    def call_async(self, request):
        """Sends a request; returns a `Future` that the executor of the node completes.

        Raises `CallFailed` if there is no server.
        """
        from feros.future import Future

        future = Future()

        def end(response, error):
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(response)

        self._inner.call_with_callback(request, end, needs_server=True)
        return future

    def service_is_ready(self):
        """Returns whether a server is available."""
        return self._inner.service_is_ready()

    def wait_for_service(self, timeout=None):
        """Waits at most `timeout` seconds for a server; returns whether a server is available."""
        return self._inner.wait_for_service(timeout)

    async def wait_for_service_async(self, timeout=None):
        """Like `wait_for_service`, in asyncio."""
        what = f"a server of {self.service_name}"
        return await self._node._comes_async(self.service_is_ready, timeout, what)


class Timer(Endpoint):
    """Calls a callback periodically."""

    def cancel(self):
        """Stops the timer until `reset` is called."""
        self._inner.cancel()

    def reset(self):
        """Restarts the period of the timer."""
        self._inner.reset()

    def is_canceled(self):
        """Returns whether the timer was canceled."""
        return self._inner.is_canceled()

    @property
    def period(self):
        """The period in seconds."""
        return self._inner.period / 1_000_000_000

    @property
    def time_until_next_call(self):
        """The time until the timer is due, in seconds; `None` if it was canceled."""
        nanos = self._inner.time_until_next_call()
        return None if nanos is None else nanos / 1_000_000_000


class GuardCondition(Endpoint):
    """Makes the executor call a callback after each trigger."""

    def trigger(self):
        """Triggers the guard condition. May be called from any thread."""
        self._inner.trigger()


class Parameters:
    """The parameters of a node, by name: their values are bool, int, float, str, bytes and lists of
    these."""

    def __init__(self, inner):
        self._inner = inner

    def declare(self, name, default, **how):
        """Declares a parameter that starts with `default`, unless the command line or a file sets
        it; returns its value. `how` may have `description`, `additional_constraints`, `read_only`,
        `dynamic_typing`, `ignore_override`, and `floating_point_range` or `integer_range` as (from,
        to, step).

        Raises `ParameterError` if the parameter is already declared, or its first value is not
        allowed.
        """
        return self._inner.declare(name, default, **how)

    def undeclare(self, name):
        """Undeclares a parameter."""
        self._inner.undeclare(name)

    def __contains__(self, name):
        return self._inner.has(name)

    def __getitem__(self, name):
        return self._inner.get(name)

    def __setitem__(self, name, value):
        self._inner.set({name: value})

    def get(self, name, default=None):
        """Returns the value, or `default` if there is no such parameter."""
        return self._inner.get(name) if self._inner.has(name) else default

    def set(self, **values):
        """Sets all of these parameters, or no parameter if one of the values is refused."""
        self._inner.set(values)

    def update(self, values):
        """Like `set`, with a dict."""
        self._inner.set(dict(values))

    def by_prefix(self, prefix):
        """Returns all parameters below a prefix, by the rest of their names."""
        return self._inner.by_prefix(prefix)

    def names(self):
        """Returns the names of all parameters."""
        return self._inner.list()[0]

    def describe(self, *names):
        """Returns the descriptors of parameters, as dicts."""
        return self._inner.describe(list(names))

    def on_set(self, callback):
        """Calls `callback(values)` before parameters are set. If it returns a string, the
        parameters are not set, and the string is the reason. Returns a handle with `remove`."""
        return self._inner.on_set(lambda values: callback(_by_name(values)))

    def after_set(self, callback):
        """Calls `callback(values)` after parameters have been set. Returns a handle with
        `remove`."""
        return self._inner.after_set(lambda values: callback(_by_name(values)))


def _by_name(values):
    return {name: value for name, value, _ in values}
