"""Simulated time, and callbacks for its jumps."""

import pytest

import feros
from feros.clock import Clock, ClockChange, ClockType
from feros.msgs.rosgraph_msgs.msg import Clock as ClockMessage

SECOND = 1_000_000_000


def follow(node, publish, seconds, eventually):
    """Sets the clock repeatedly until the node's clock shows the time."""
    eventually(lambda: node.now() == seconds * SECOND, lambda: publish(seconds))


def test_jumps_of_simulated_time_are_told(context, eventually):
    source = context.create_node("source")
    publisher = source.create_publisher(ClockMessage, "/clock", 10)

    def publish(seconds):
        message = ClockMessage()
        message.clock.sec = seconds
        publisher.publish(message)
        feros.spin_once(source, 0.01)

    node = context.create_node("following", use_sim_time=True)
    before, after, forward = [], [], []
    handle = node.clock.on_jump(after.append, before=before.append)
    leaps = node.clock.on_jump(
        forward.append, on_change=False, min_forward=50.0, min_backward=None
    )
    follow(node, publish, 10, eventually)
    assert (after, forward) == ([], []), "forward by less than 50 s"
    follow(node, publish, 100, eventually)
    eventually(lambda: forward)
    assert (forward[0].before, forward[0].after) == (10 * SECOND, 100 * SECOND)
    assert (forward[0].change, after) == (ClockChange.NONE, [])
    follow(node, publish, 20, eventually)
    eventually(lambda: after)
    assert (before[0].delta, after[0].delta) == (-80 * SECOND, -80 * SECOND)
    node.parameters["use_sim_time"] = False
    eventually(lambda: len(after) == 2)
    assert (after[1].change, after[1].delta) == (ClockChange.SIMULATED_TIME_OFF, 0)
    handle.remove()
    leaps.remove()
    node.parameters["use_sim_time"] = True
    assert node.clock.is_simulated
    assert len(after) == 2, "nobody listens any more"
    assert len(forward) == 1, repr(forward)


def test_other_clocks_never_jump():
    with pytest.raises(ValueError, match="min_backward"):
        Clock(ClockType.ROS).on_jump(print, min_backward=-1.0)
    Clock(ClockType.STEADY).on_jump(print).remove()
    assert Clock(ClockType.SYSTEM).now() > SECOND


def test_stock_sets_our_clock(context, start, stock, eventually):
    peer = start("stock_clock.py", python=stock)
    peer.hear()
    node = context.create_node("following_stock", use_sim_time=True)
    jumps = []
    handle = node.clock.on_jump(jumps.append)

    def say(seconds):
        peer.say(str(seconds))
        peer.hear()

    follow(node, say, 100, eventually)
    follow(node, say, 60, eventually)
    eventually(lambda: jumps)
    assert jumps[0].delta == -40 * SECOND
    handle.remove()
