"""Transforms: the contents of a buffer, the listeners that fill it, and waits for it."""

import asyncio
import threading

import pytest

import feros
from feros import tf2
from feros.msgs.geometry_msgs.msg import PointStamped, PoseStamped, Transform, TransformStamped
from feros.msgs.std_msgs.msg import String

SECOND = 1_000_000_000


def transform(parent, child, seconds, x=0.0, y=0.0):
    stamped = TransformStamped(child_frame_id=child)
    stamped.header.frame_id = parent
    stamped.header.stamp.sec = seconds
    stamped.transform.translation.x, stamped.transform.translation.y = x, y
    return stamped


def test_a_buffer_answers_between_what_it_knows():
    buffer = tf2.Buffer()
    buffer.set_transform(transform("odom", "base", 10, x=1.0), "wheels")
    buffer.set_transform(transform("odom", "base", 12, x=3.0), "wheels")
    buffer.set_transform(transform("base", "camera", 0, y=0.5), static=True)
    found = buffer.lookup_transform("odom", "camera", 11 * SECOND)
    assert isinstance(found, TransformStamped)
    assert (found.header.frame_id, found.child_frame_id, found.header.stamp.sec) == (
        "odom", "camera", 11)
    assert (found.transform.translation.x, found.transform.translation.y) == (2.0, 0.5)
    assert found == buffer.lookup_transform("odom", "camera", found.header.stamp)
    assert buffer.lookup_transform("odom", "camera").transform.translation.x == 3.0
    assert buffer.latest_common_time("odom", "camera") == 12 * SECOND
    assert buffer.chain("odom", "camera") == ["camera", "base", "odom"]
    then = buffer.lookup_transform_full("base", 12 * SECOND, "base", 10 * SECOND, "odom")
    assert then.transform.translation.x == -2.0
    assert buffer.frames()["base"].parent == "odom" and buffer.frames()["camera"].is_static
    assert buffer.frames()["base"].authority == "wheels"
    assert "Frame camera exists with parent base." in buffer.all_frames_as_string()
    assert "broadcaster: 'wheels'" in buffer.all_frames_as_yaml()
    assert (buffer.set_transforms, buffer.refused_transforms) == (3, 0)
    buffer.clear()
    assert not buffer.can_transform("odom", "camera")


def test_failed_lookups_give_the_reason():
    buffer = tf2.Buffer()
    buffer.set_transform(transform("map", "robot", 10))
    buffer.set_transform(transform("island", "hut", 10))
    for error, arguments, words in [
        (tf2.LookupException, ("map", "robt"), 'did you mean "robot"'),
        (tf2.InvalidArgumentException, ("/map", "robot"), "cannot start with"),
        (tf2.ConnectivityException, ("map", "hut"), "not part of the same tree"),
        (tf2.ExtrapolationException, ("map", "robot", SECOND), "extrapolation"),
    ]:
        with pytest.raises(error, match=words):
            buffer.lookup_transform(*arguments)
        assert issubclass(error, tf2.TransformException)
    with pytest.raises(tf2.InvalidArgumentException):
        buffer.set_transform(transform("map", "map", 10))
    with pytest.raises(tf2.InvalidArgumentException):
        buffer.set_transform(transform("map", "robot", 10, x=float("nan")))
    with pytest.raises(TypeError):
        buffer.set_transform(Transform())
    with pytest.raises(TypeError, match="Time message"):
        buffer.lookup_transform("map", "robot", "now")
    with pytest.raises(TypeError, match="std_msgs/msg/String cannot be transformed"):
        buffer.transform(String(), "map")
    with pytest.raises(ValueError):
        tf2.Buffer(0.0)


def test_messages_are_said_in_other_frames():
    buffer = tf2.Buffer()
    to_map = transform("map", "robot", 10, x=5.0)
    buffer.set_transform(to_map)
    point = PointStamped()
    point.header.frame_id, point.header.stamp.sec, point.point.y = "robot", 10, 1.0
    for moved in (buffer.transform(point, "map"), tf2.do_transform(point, to_map)):
        assert (moved.header.frame_id, moved.point.x, moved.point.y) == ("map", 5.0, 1.0)
    pose = PoseStamped(header=point.header)
    pose.pose.orientation.w = 1.0
    assert buffer.transform(pose, "map").pose.position.x == 5.0


def test_broadcasters_fill_the_buffer_of_a_listener(context):
    here, there = context.create_node("here"), context.create_node("there")
    buffer = tf2.Buffer()
    listener = tf2.TransformListener(buffer, here)
    static, moving = tf2.StaticTransformBroadcaster(there), tf2.TransformBroadcaster(there)
    static.send_transform(transform("base", "camera", 0, y=0.5))
    static.send_transform([transform("base", "laser", 0)])
    stop = threading.Event()

    def move():
        while not stop.wait(0.01):
            moving.send_transform([transform("odom", "base", 10, x=1.0)])

    thread = threading.Thread(target=move)
    thread.start()
    try:
        found = buffer.wait_for_transform("odom", "camera", 10 * SECOND).wait(60)

        async def wait():
            return await buffer.wait_for_transform("camera", "odom")

        back = asyncio.run(wait())
    finally:
        stop.set()
        thread.join()
    assert (found.transform.translation.x, found.transform.translation.y) == (1.0, 0.5)
    assert (back.transform.translation.x, back.transform.translation.y) == (-1.0, -0.5)
    assert buffer.wait_for_transform("base", "laser").wait(60).child_frame_id == "laser"
    assert buffer.frames()["base"].authority == "/there"
    with pytest.raises(TimeoutError, match="Other transforms came|Nothing at all"):
        buffer.wait_for_transform("odom", "nowhere").wait(0.15)
    with pytest.raises(tf2.ExtrapolationException):
        buffer.set_transform(transform("odom", "base", 30))
        buffer.wait_for_transform("odom", "base", SECOND).wait(60)
    listener.destroy()


def test_waiting_ends_with_the_context():
    with feros.Context([]) as context:
        buffer = tf2.Buffer()
        listener = tf2.TransformListener(buffer, context.create_node("closing"))
        threading.Timer(0.05, context._context.shutdown).start()
        with pytest.raises(feros.ShutdownError):
            buffer.wait_for_transform("map", "base").wait(60)
        assert listener.buffer is buffer
