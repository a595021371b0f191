"""The package message_filters of Feros behaves like the stock package."""

import message_filters
import pytest
from geometry_msgs.msg import PointStamped
from message_filters import (
    ApproximateTimeSynchronizer,
    Cache,
    Chain,
    SimpleFilter,
    TimeSynchronizer,
)
from rclpy.time import Time
from std_msgs.msg import String


def stamped(seconds, x=0.0):
    made = PointStamped()
    made.header.stamp = Time(seconds=seconds).to_msg()
    made.point.x = float(x)
    return made


def told(of):
    heard = []
    of.registerCallback(lambda *messages: heard.append(messages))
    return heard


def test_registered_ones_are_told_until_they_are_no_more():
    one, heard = SimpleFilter(), []
    first = one.registerCallback(lambda message, more: heard.append((message, more)), "first")
    one.unregisterCallback(first)
    # The number of the removed callback is not used again. If it were, the new callback could
    # replace one that was added later.
    second = one.registerCallback(lambda message, more: heard.append((message, more)), "second")
    third = one.registerCallback(lambda message: heard.append(message))
    assert len({first, second, third}) == 3
    one.signalMessage(1)
    assert heard == [(1, "second"), 1]


def test_messages_of_one_time_go_together():
    left, right = SimpleFilter(), SimpleFilter()
    heard = told(TimeSynchronizer([left, right], 2))
    messages = {seconds: (stamped(seconds), stamped(seconds)) for seconds in (1, 2, 3)}
    for seconds in (1, 2, 3):
        left.signalMessage(messages[seconds][0])
    for seconds in (3, 1, 2):
        right.signalMessage(messages[seconds][1])
    assert heard == [messages[3], messages[2]]  # there is one more than the two that may wait
    with pytest.raises(ValueError, match="no stamp"):
        left.signalMessage(String())


def test_who_is_told_may_add_again():
    left, right = SimpleFilter(), SimpleFilter()
    synchronizer = TimeSynchronizer([left, right], 5)
    heard = told(synchronizer)
    synchronizer.registerCallback(
        lambda *_: left.signalMessage(stamped(9)) if len(heard) == 1 else None)
    right.signalMessage(stamped(9))
    for one in (left, right):
        one.signalMessage(stamped(1))
    assert [pair[0].header.stamp.sec for pair in heard] == [1, 9]


def test_messages_of_almost_one_time_go_together():
    inputs = [SimpleFilter() for _ in range(3)]
    heard = told(ApproximateTimeSynchronizer(inputs, 5, 0.1))
    inputs[0].signalMessage(stamped(1.0, 1))
    inputs[0].signalMessage(stamped(1.06, 2))
    inputs[1].signalMessage(stamped(1.12, 3))
    inputs[2].signalMessage(stamped(1.3, 4))
    assert heard == []
    # The nearest time is 1.06. 1.0 is too far from 1.12, although both are near 1.05.
    inputs[2].signalMessage(stamped(1.05, 5))
    assert [[message.point.x for message in pair] for pair in heard] == [[2.0, 3.0, 5.0]]
    inputs[2].signalMessage(stamped(1.06, 6))
    assert len(heard) == 1  # each message is passed on once


def test_messages_without_a_stamp_are_dropped_or_of_now():
    left, right = SimpleFilter(), SimpleFilter()
    refuses = told(ApproximateTimeSynchronizer([left, right], 5, 60.0))
    takes = told(ApproximateTimeSynchronizer([left, right], 5, 60.0, allow_headerless=True))
    arrived = told(ApproximateTimeSynchronizer([left, right], 5, 60.0, sync_arrival_time=True))
    left.signalMessage(String(data="a"))
    right.signalMessage(stamped(1))
    assert (refuses, takes, len(arrived)) == ([], [], 1)
    right.signalMessage(String(data="b"))
    assert [one.data for one in takes[0]] == ["a", "b"]
    own = told(TimeSynchronizer([left, right], 5, time_getter=lambda _: Time(seconds=4)))
    left.signalMessage(String())
    right.signalMessage(String())
    assert len(own) == 1


def test_a_cache_keeps_the_newest():
    source = SimpleFilter()
    cache = Cache(source, 3)
    heard = told(cache)
    assert cache.getLast() is None and cache.getOldestTime() is None
    messages = [stamped(seconds) for seconds in range(5)]
    for message in messages:
        source.signalMessage(message)
    source.signalMessage(String())
    assert len(heard) == 5

    def ros(seconds):
        return Time.from_msg(stamped(seconds).header.stamp)

    assert cache.getInterval(ros(3), ros(9)) == messages[3:]
    assert cache.getElemAfterTime(ros(2.5)) is messages[3]
    assert cache.getElemBeforeTime(ros(2.5)) is messages[2]
    assert cache.getElemBeforeTime(ros(1)) is None
    assert (cache.getOldestTime(), cache.getLastestTime()) == (ros(2), ros(4))
    assert cache.getLast() is messages[4]


def test_filters_of_a_chain_follow_each_other():
    source = SimpleFilter()
    chain = Chain(source)
    heard = told(chain)
    source.signalMessage(stamped(1))
    first, last = Cache(), Cache()
    chain.addFilter(first)
    chain.addFilter(last)
    source.signalMessage(stamped(2))
    assert len(heard) == 2 and chain.getFilter(1) is last
    assert first.getLast() is last.getLast() is heard[1][0]
    with pytest.raises(RuntimeError, match="Already connected"):
        chain.connectInput(source)


def test_subscribers_feed_a_synchronizer(node, spin_until):
    left = message_filters.Subscriber(node, PointStamped, "left")
    right = message_filters.Subscriber(node, PointStamped, "right", qos_profile=5)
    assert (left.getTopic(), right.topic_name) == ("left", "/right")
    heard = told(TimeSynchronizer([left, right], 10))
    for topic in ("left", "right"):
        node.create_publisher(PointStamped, topic, 10).publish(stamped(7))
    spin_until(lambda: heard)
    assert [one.header.stamp.sec for one in heard[0]] == [7, 7]
