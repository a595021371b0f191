"""Replacements for the C structures of stock rclpy: validity, listeners, taking, events."""

import threading
from unittest.mock import Mock

import pytest
import rclpy
from rclpy.event_handler import (
    QoSLivelinessChangedInfo,
    QoSPublisherEventType,
    QoSPublisherMatchedInfo,
    QoSRequestedIncompatibleQoSInfo,
    QoSSubscriptionEventType,
    UnsupportedEventTypeError,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as binding
from rclpy.qos import QoSPolicyKind
from std_msgs.msg import Int32
from std_srvs.srv import Trigger


def made_by(node):
    """An entity of each kind, and the function that destroys it."""
    return [
        (node.create_publisher(Int32, "a", 1), node.destroy_publisher),
        (node.create_subscription(Int32, "a", print, 1), node.destroy_subscription),
        (node.create_client(Trigger, "b"), node.destroy_client),
        (node.create_service(Trigger, "b", lambda _, response: response), node.destroy_service),
        (node.create_timer(1.0, print), node.destroy_timer),
        (node.create_guard_condition(print), node.destroy_guard_condition),
    ]


def test_a_handle_under_with_ends_nothing(node):
    for entity, _ in made_by(node):
        with entity.handle as handle:
            assert handle == entity.handle and handle.pointer == entity.handle.pointer
        with entity.handle:
            pass
    with node.handle, node.context.handle as context:
        assert context.ok() and node.handle.get_node_name() == "tested"
    assert node.context.ok() and node.get_name() == "tested"


def test_a_handle_is_invalid_after_the_destruction(node):
    for entity, destroy in made_by(node):
        handle = entity.handle
        assert destroy(entity)
        with pytest.raises(binding.InvalidHandle):
            with handle:
                pass
        with pytest.raises(binding.InvalidHandle):
            with entity.handle:
                pass


def test_a_handle_that_is_used_outlives_the_destruction(node):
    entity, destroy = made_by(node)[0]
    with entity.handle:
        destroy(entity)
        with entity.handle:
            pass
    with pytest.raises(binding.InvalidHandle):
        entity.handle.__enter__()
    other = rclpy.create_node("other", context=node.context)
    with other.handle:
        other.destroy_node()
        with other.handle:
            pass
    with pytest.raises(binding.InvalidHandle):
        with other.handle:
            pass


def test_messages_are_told_and_taken_though_nobody_spins(node):
    subscription = node.create_subscription(Int32, "numbers", print, 10)
    publisher = node.create_publisher(Int32, "numbers", 10)
    listener = Mock()
    subscription.handle.set_on_new_message_callback(listener)
    listener.assert_not_called()
    publisher.publish(Int32(data=1))
    listener.assert_called_once_with(1)
    assert subscription.handle.take_message(Int32, False)[0].data == 1
    subscription.handle.clear_on_new_message_callback()
    publisher.publish(Int32(data=2))
    publisher.publish(Int32(data=3))
    listener.assert_called_once()
    subscription.handle.set_on_new_message_callback(listener)
    listener.assert_called_with(2)  # for data that already waits
    taken = [subscription.handle.take_message(Int32, False)[0].data for _ in range(2)]
    assert taken == [2, 3] and subscription.handle.take_message(Int32, False) is None
    with pytest.raises(TypeError):
        subscription.handle.set_on_new_message_callback("none")


def test_messages_of_other_contexts_are_told_though_nobody_spins(node):
    heard = threading.Event()
    subscription = node.create_subscription(Int32, "numbers", print, 10)
    subscription.handle.set_on_new_message_callback(lambda _: heard.set())
    context = rclpy.context.Context()
    with rclpy.init(args=[], context=context):
        other = rclpy.create_node("other", context=context)
        publisher = other.create_publisher(Int32, "numbers", 10)
        publisher._native.wait_for_subscriptions(1, 60)
        publisher._native.publish(Int32(data=1))
        assert heard.wait(60)
    subscription.destroy()


def test_a_listener_may_take_and_publish(node):
    publisher = node.create_publisher(Int32, "numbers", 10)
    subscription = node.create_subscription(Int32, "numbers", print, 10)
    taken = []

    def came(_):
        message, _ = subscription.take_message()
        taken.append(message.data)
        if message.data < 5:
            publisher.publish(Int32(data=message.data + 1))

    subscription.handle.set_on_new_message_callback(came)
    publisher.publish(Int32(data=1))
    while len(taken) < 5:
        publisher._find_node()._rclpy_collect()
    assert taken == [1, 2, 3, 4, 5]


def test_a_node_that_is_listened_to_can_be_spun(node):
    calls, listener = [], Mock()
    subscription = node.create_subscription(Int32, "numbers", calls.append, 10)
    publisher = node.create_publisher(Int32, "numbers", 10)
    subscription.handle.set_on_new_message_callback(listener)
    for number in range(3):
        publisher.publish(Int32(data=number))
        while len(calls) <= number:
            rclpy.spin_once(node, timeout_sec=60)
    assert listener.call_count == 3


def test_requests_and_responses_are_told(node):
    service = node.create_service(Trigger, "asked", lambda _, response: response)
    client = node.create_client(Trigger, "asked")
    assert client.wait_for_service(60)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    asked, answered = Mock(), Mock()
    service.handle.set_on_new_request_callback(asked)
    client.handle.set_on_new_response_callback(answered)
    client.call_async(Trigger.Request())
    asked.assert_called_once_with(1)
    answered.assert_not_called()
    executor.spin_once(0)
    answered.assert_called_once_with(1)
    service.handle.clear_on_new_request_callback()
    client.handle.clear_on_new_response_callback()
    second = client.call_async(Trigger.Request())
    executor.spin_until_future_complete(second, 60)
    assert second.result() is not None
    asked.assert_called_once()
    answered.assert_called_once()
    executor.shutdown()


def test_a_request_is_taken_by_the_handle(node):
    service = node.create_service(Trigger, "asked", lambda _, response: response)
    client = node.create_client(Trigger, "asked")
    assert client.wait_for_service(60)
    assert service.handle.service_take_request(Trigger.Request) == (None, None)
    answer = client.call_async(Trigger.Request())
    request, header = service.handle.service_take_request(Trigger.Request)
    assert isinstance(request, Trigger.Request)
    assert header.source_timestamp > 0 and header.received_timestamp > 0
    assert header.request_id.sequence_number >= 0 and len(header.request_id.writer_guid) == 16
    service.handle.service_send_response(Trigger.Response(message="by hand"), header)
    rclpy.spin_until_future_complete(node, answer, timeout_sec=60)
    assert answer.result().message == "by hand"


def test_a_reset_of_a_timer_is_told(node):
    timer, told = node.create_timer(1000.0, print), Mock()
    timer.handle.set_on_reset_callback(told)
    timer.reset()
    told.assert_called_once_with(1)
    timer.handle.clear_on_reset_callback()
    timer.reset()
    told.assert_called_once()
    assert not timer.handle.is_timer_ready() and timer.handle.get_timer_period() == 10**12


def test_events_are_taken_by_their_handle(node):
    publisher = node.create_publisher(Int32, "numbers", 10)
    with publisher.handle:
        matched = binding.EventHandle(
            publisher.handle, QoSPublisherEventType.RCL_PUBLISHER_MATCHED)
    told = Mock()
    matched.set_callback(told)
    subscription = node.create_subscription(Int32, "numbers", print, 10)
    wait_set = binding.WaitSet(0, 0, 0, 0, 0, 1, node.context.handle)
    with matched:
        number = wait_set.add_event(matched)
    wait_set.wait(60 * 10**9)
    assert wait_set.is_ready("event", number)
    info = matched.take_event()
    assert isinstance(info, QoSPublisherMatchedInfo)
    assert (info.total_count, info.current_count) == (1, 1)
    assert told.called
    wait_set.wait(0)
    assert not wait_set.is_ready("event", number)
    assert matched.take_event().total_count_change == 0
    for kind, info_type, field, value in [
        (QoSSubscriptionEventType.RCL_SUBSCRIPTION_LIVELINESS_CHANGED, QoSLivelinessChangedInfo,
         "not_alive_count_change", 0),
        (QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS,
         QoSRequestedIncompatibleQoSInfo, "last_policy_kind", QoSPolicyKind.INVALID),
    ]:
        event = binding.EventHandle(subscription.handle, kind)
        nothing = event.take_event()
        assert isinstance(nothing, info_type) and getattr(nothing, field) == value
        event.destroy_when_not_in_use()
    with pytest.raises(UnsupportedEventTypeError):
        binding.EventHandle(
            subscription.handle, QoSPublisherEventType.RCL_PUBLISHER_LIVELINESS_LOST)
