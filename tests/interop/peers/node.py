"""A stock node that gets its endpoints by request, so that one process serves a whole test.

Making and removing: publisher {topic, type, qos, events}, subscription {topic, type, qos, events, blocks},
service {name, type, response, deferred}, client {name, type}, destroy {what, name}.
Topics: publish {topic, values}, publish_blocks {topic, count, size}, publish_first {topic, type, values} publishes
each value with a participant of its own, once that participant counts a subscription, acked {topic},
take {topic, count, timeout}, received {topic}, matched {topic, publishers, subscriptions}, event {topic, kind, what}.
Services: wait {service}, ready {service}, call {service, requests} sends all requests, then waits for all responses,
requests {service, count} returns the received requests, release {service} answers the oldest deferred request,
introspect {what, name, state, qos} makes a client or service publish its events,
event_subscription {service, type, qos} listens to them as topic <service>/_service_event.
Parameters: declare {name, value, descriptor}, parameter {name}, refuse {value, reason}: refuses this value from then on,
overrides {arguments, namespace, name}: the parameters that a node with this command line starts with.
Names: names {names} returns for each name whether it is valid as a full topic name, a namespace and a node name.
Loggers: logger_services {} makes the node serve the levels of its loggers, log {level, text, child}.
Further operations: those of graph_questions.py, of actions.py, and of the managed nodes of
lifecycle_nodes.py.
"""
import threading
import time

import actions
import conversion
import graph_questions
import lifecycle_nodes
import peer
import rclpy
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidNamespaceException, InvalidNodeNameException, InvalidTopicNameException
from rclpy.logging import LoggingSeverity
from rclpy.logging_service import LoggingService
from rclpy.service_introspection import ServiceIntrospectionState
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name

CYCLE = bytes(range(251))


def block(number, size):
    """Bytes that show their position: the length of the cycle is prime, so no two fragments of a block are alike."""
    start = number % len(CYCLE)
    return (CYCLE * (size // len(CYCLE) + 2))[start:start + size]


def event_to_json(event):
    """The counts of an event; a policy is given by its name."""
    values = {}
    for name in dir(event):
        value = getattr(event, name)
        if name == "last_policy_kind":
            values[name] = value.name.lower().removeprefix("rmw_qos_policy_")
        elif not name.startswith("_") and isinstance(value, int):
            values[name] = value
    return values


class Node:
    """The operations of the node: each public method is an operation."""

    def __init__(self, node):
        self._node = node
        self._publishers, self._subscriptions, self._services, self._clients = {}, {}, {}, {}
        self._inboxes, self._requests, self._events, self._deferred = {}, {}, {}, {}
        self._kept = []

    def publisher(self, topic, type, qos=None, events=()):
        callbacks = self._callbacks(PublisherEventCallbacks, topic, "publisher", events)
        kind = conversion.interface(type, "msg")
        self._publishers[topic] = self._node.create_publisher(kind, topic, peer.qos(qos or {}), event_callbacks=callbacks)

    def subscription(self, topic, type, qos=None, events=(), blocks=False):
        callbacks = self._callbacks(SubscriptionEventCallbacks, topic, "subscription", events)
        inbox = self._inboxes[topic] = peer.Inbox()

        def summary(message):
            number, data = message.header.stamp.sec, bytes(message.data)
            return {"number": number, "size": len(data), "intact": data == block(number, len(data))}

        to_json = summary if blocks else conversion.to_json
        self._subscriptions[topic] = self._node.create_subscription(
            conversion.interface(type, "msg"), topic, lambda message: inbox.put(to_json(message)),
            peer.qos(qos or {}), event_callbacks=callbacks)

    def _callbacks(self, kind, topic, what, names):
        def inbox(name):
            return self._events.setdefault((topic, what, name), peer.Inbox())

        callbacks = {name: lambda event, inbox=inbox(name): inbox.put(event_to_json(event)) for name in names}
        return kind(**callbacks, use_default_callbacks=False)

    def publish(self, topic, values):
        publisher = self._publishers[topic]
        for value in values:
            publisher.publish(conversion.fill(publisher.msg_type(), value))

    def publish_blocks(self, topic, count, size):
        publisher = self._publishers[topic]
        for number in range(count):
            message = publisher.msg_type()
            message.header.stamp.sec = number
            message.data = conversion.bytes_field(message.SLOT_TYPES[message.__slots__.index("_data")], block(number, size))
            publisher.publish(message)

    def publish_first(self, topic, type, values, timeout=60.0):
        kind = conversion.interface(type, "msg")
        for number, value in enumerate(values):
            context = rclpy.Context()
            rclpy.init(context=context)
            node = rclpy.create_node(f"first_{number}", context=context)
            message = conversion.fill(kind(), value)
            publisher = node.create_publisher(kind, topic, 10)
            watchdog = time.monotonic() + timeout
            # A message right after the match is the most likely to get lost, so it is published without a pause.
            while publisher.get_subscription_count() == 0:
                if time.monotonic() > watchdog:
                    raise TimeoutError("no subscription matched")
            publisher.publish(message)
            # The publisher stays until the message has arrived.
            self._kept.append((node, publisher))

    def acked(self, topic, timeout=60.0):
        return self._publishers[topic].wait_for_all_acked(Duration(seconds=timeout))

    def take(self, topic, count=1, timeout=60.0):
        return self._inboxes[topic].take(count, timeout)

    def received(self, topic):
        return self._inboxes[topic].count()

    def matched(self, topic, publishers=None, subscriptions=None, timeout=60.0):
        if publishers is not None:
            subscription = self._subscriptions[topic]
            peer.wait_until(lambda: subscription.get_publisher_count() == publishers, timeout)
        if subscriptions is not None:
            publisher = self._publishers[topic]
            peer.wait_until(lambda: publisher.get_subscription_count() == subscriptions, timeout)

    def event(self, topic, kind, what, timeout=60.0):
        return self._events[topic, what, kind].take(1, timeout)[0]

    def service(self, name, type, response=None, deferred=False):
        kind = conversion.interface(type, "srv")
        inbox = self._requests[name] = peer.Inbox()
        waiting = self._deferred[name] = peer.Inbox()

        def serve(request, answer):
            inbox.put(conversion.to_json(request))
            if deferred:
                release = threading.Event()
                waiting.put(release)
                release.wait(60.0)
            asked = dict(conversion.fields(request))
            for field, field_type in conversion.fields(answer):
                if asked.get(field) == field_type:
                    setattr(answer, field, getattr(request, field))
            return conversion.fill(answer, response or {})

        self._services[name] = self._node.create_service(kind, name, serve)

    def requests(self, service, count=1, timeout=60.0):
        return self._requests[service].take(count, timeout)

    def release(self, service, timeout=60.0):
        self._deferred[service].take(1, timeout)[0].set()

    def client(self, name, type):
        self._clients[name] = self._node.create_client(conversion.interface(type, "srv"), name)

    def ready(self, service):
        return self._clients[service].service_is_ready()

    def wait(self, service, timeout=60.0):
        peer.wait_until(self._clients[service].service_is_ready, timeout)

    def call(self, service, requests, timeout=60.0):
        client, done = self._clients[service], peer.Inbox()
        futures = [client.call_async(conversion.fill(client.srv_type.Request(), request)) for request in requests]
        for future in futures:
            future.add_done_callback(lambda _: done.put(None))
        try:
            done.take(len(futures), timeout)
        except TimeoutError as error:
            answered = [at for at, future in enumerate(futures) if future.done()]
            raise TimeoutError(f"{error}; answered were {answered}") from None
        return [conversion.to_json(future.result()) for future in futures]

    def send(self, service, request):
        """Sends a request without waiting for the response."""
        client = self._clients[service]
        client.remove_pending_request(client.call_async(conversion.fill(client.srv_type.Request(), request)))

    def introspect(self, what, name, state, qos):
        end = getattr(self, f"_{what}s")[name]
        end.configure_introspection(
            self._node.get_clock(), peer.qos(qos), getattr(ServiceIntrospectionState, state.upper()))

    def event_subscription(self, service, type, qos):
        topic = f"{service}/_service_event"
        inbox = self._inboxes[topic] = peer.Inbox()
        self._subscriptions[topic] = self._node.create_subscription(
            conversion.interface(type, "srv").Event, topic, lambda event: inbox.put(conversion.to_json(event)),
            peer.qos(qos))

    def destroy(self, what, name):
        endpoints = getattr(self, f"_{what}s")
        assert getattr(self._node, f"destroy_{what}")(endpoints.pop(name))

    def declare(self, name, value=None, descriptor=None):
        self._node.declare_parameter(name, value, conversion.fill(ParameterDescriptor(), descriptor or {}))

    def parameter(self, name):
        return conversion.to_json(self._node.get_parameter(name).get_parameter_value())

    def refuse(self, value, reason):
        def verdict(parameters):
            refused = any(parameter.value == value for parameter in parameters)
            return SetParametersResult(successful=not refused, reason=reason if refused else "")

        self._node.add_on_set_parameters_callback(verdict)

    def overrides(self, arguments, namespace, name):
        node = rclpy.create_node(
            name, namespace=namespace, cli_args=arguments, use_global_arguments=False, start_parameter_services=False,
            automatically_declare_parameters_from_overrides=True, enable_rosout=False)
        try:
            named = node.get_parameters_by_prefix("")
            return {key: conversion.to_json(value.get_parameter_value()) for key, value in named.items()}
        finally:
            node.destroy_node()

    def names(self, names):
        def allowed(validate, name):
            try:
                return bool(validate(name))
            except (InvalidTopicNameException, InvalidNamespaceException, InvalidNodeNameException, ValueError):
                return False
        return [[allowed(validate, name) for validate in (validate_full_topic_name, validate_namespace, validate_node_name)]
                for name in names]

    def logger_services(self):
        LoggingService(self._node)

    def log(self, text, level="info", child=None):
        logger = self._node.get_logger()
        (logger.get_child(child) if child else logger).log(text, LoggingSeverity[level.upper()])


def setup(node):
    operations = Node(node)
    named = {name: getattr(operations, name) for name in dir(operations) if not name.startswith("_")}
    more = graph_questions.operations(node) | actions.operations(node)
    return named | more | lifecycle_nodes.operations(node)


peer.run(peer.arguments(__doc__), setup)
