"""Content filters of rclpy: set when a subscription is made or later, replaced, removed."""

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription_content_filter_options import ContentFilterOptions
from std_msgs.msg import Float64, String

RCLError = rclpy_implementation.RCLError


def test_a_subscription_is_made_with_a_filter(node, spin_until):
    heard = []
    subscription = node.create_subscription(
        Float64, "level", lambda message: heard.append(message.data), 20,
        content_filter_options=ContentFilterOptions(
            filter_expression="data > %0", expression_parameters=["2.5"]))
    assert subscription.is_cft_supported and subscription.is_cft_enabled
    assert subscription.get_content_filter() == ContentFilterOptions("data > %0", ["2.5"])
    publisher = node.create_publisher(Float64, "level", 20)
    for value in (1.0, 3.0, 2.0, 4.0):
        publisher.publish(Float64(data=value))
    spin_until(lambda: len(heard) == 2)
    assert heard == [3.0, 4.0]
    assert subscription.dropped_messages == 0


def test_a_filter_is_set_replaced_and_taken_away(node, spin_until):
    heard = []
    subscription = node.create_subscription(
        String, "chatter", lambda message: heard.append(message.data), 20)
    publisher = node.create_publisher(String, "chatter", 20)
    assert not subscription.is_cft_enabled
    with pytest.raises(RCLError, match="has no filter"):
        subscription.get_content_filter()

    def say(*texts):
        heard.clear()
        for text in texts:
            publisher.publish(String(data=text))
        spin_until(lambda: "end" in heard)
        return heard[:-1]

    assert say("a", "b", "end") == ["a", "b"]
    subscription.set_content_filter("data = %0 OR data = 'end'", ["'a'"])
    assert subscription.is_cft_enabled
    assert say("a", "b", "a", "end") == ["a", "a"]
    with pytest.raises(RCLError, match="Failed to set content filter"):
        subscription.set_content_filter("nothing = 5", [])
    assert say("a", "b", "end") == ["a"], "the earlier filter stays"
    subscription.set_content_filter("", [])
    assert not subscription.is_cft_enabled
    assert say("a", "b", "end") == ["a", "b"]


@pytest.mark.parametrize("backends", [None, "", "cpu", "any", "cuda,demo"])
def test_buffer_backends_of_lyrical_are_accepted(node, spin_until, backends):
    heard = []
    node.create_subscription(
        String, "chatter", heard.append, 1, acceptable_buffer_backends=backends)
    node.create_publisher(String, "chatter", 1).publish(String(data="x"))
    spin_until(lambda: heard == [String(data="x")])


def test_an_invalid_filter_makes_no_subscription(node):
    with pytest.raises(RCLError, match="Failed to create subscription"):
        node.create_subscription(
            String, "chatter", print, 1,
            content_filter_options=ContentFilterOptions("data >", []))
