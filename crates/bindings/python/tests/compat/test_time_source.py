"""Simulated time in the package rclpy."""

import threading

import pytest
import rclpy
from rclpy.clock import Clock, ClockChange, JumpThreshold, ROSClock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.time import Time
from rclpy.time_source import CLOCK_TOPIC, TimeSource
from rosgraph_msgs.msg import Clock as ClockMessage


def simulate(node, value):
    assert node.set_parameters([Parameter("use_sim_time", value=value)])[0].successful


def test_attached_clocks_tell_what_the_topic_says(node, spin_until):
    source, clock = TimeSource(node=node), ROSClock()
    source.attach_clock(clock)
    with pytest.raises(ValueError):
        source.attach_clock(Clock(clock_type=ClockType.STEADY_TIME))
    assert not clock.ros_time_is_active
    jumps = []
    handle = clock.create_jump_callback(
        JumpThreshold(min_forward=None, min_backward=None), post_callback=jumps.append)
    simulate(node, True)
    assert source.ros_time_is_active and clock.ros_time_is_active
    assert clock.now() == Time(seconds=0, clock_type=ClockType.ROS_TIME)
    publisher = node.create_publisher(ClockMessage, CLOCK_TOPIC, 1)
    message = ClockMessage()
    message.clock.sec = 5

    def told():
        publisher.publish(message)
        return clock.now().nanoseconds == 5_000_000_000

    spin_until(told)
    spin_until(lambda: node.get_clock().now().nanoseconds == 5_000_000_000)
    late = ROSClock()
    source.attach_clock(late)
    assert late.now() == clock.now()
    simulate(node, False)
    assert not clock.ros_time_is_active
    assert [jump.clock_change for jump in jumps] == [
        ClockChange.ROS_TIME_ACTIVATED, ClockChange.ROS_TIME_DEACTIVATED]
    handle.unregister()


@pytest.mark.parametrize("simulated", [False, True])
def test_who_sleeps_is_woken_when_the_time_becomes_another(node, simulated, eventually):
    clock, slept = ROSClock(), []
    clock._set_ros_time_is_active(simulated)
    sleeper = threading.Thread(target=lambda: slept.append(clock.sleep_for(Duration(seconds=3600))))
    sleeper.start()
    eventually(lambda: clock._jump_handles)  # the task sleeps now
    clock._set_ros_time_is_active(not simulated)
    sleeper.join()
    assert slept == [False]


def test_it_follows_another_node(node):
    source = TimeSource(node=node)
    source.detach_node()
    simulate(node, True)
    assert not source.ros_time_is_active
    other = rclpy.create_node("other", parameter_overrides=[Parameter("use_sim_time", value=True)])
    source.attach_node(other)
    assert source.ros_time_is_active
    with pytest.raises(TypeError):
        source.attach_node("node")
