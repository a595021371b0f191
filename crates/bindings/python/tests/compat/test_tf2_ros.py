"""tf2_py, tf2_ros, tf2_geometry_msgs and tf2_sensor_msgs of Feros behave like the stock
packages."""

import math
import threading

import numpy as np
import pytest
import rclpy
import tf2_geometry_msgs
import tf2_ros
import tf2_sensor_msgs
from geometry_msgs.msg import (
    PointStamped,
    PoseStamped,
    PoseWithCovarianceStamped,
    Quaternion,
    TransformStamped,
    Vector3Stamped,
)
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.time import Time
from sensor_msgs.msg import PointField
from sensor_msgs_py import point_cloud2
from std_msgs.msg import Header, String

TURN = Quaternion(w=0.0, x=1.0, y=0.0, z=0.0)  # half a turn around x


def transform(parent, child, seconds=1.0, x=0.0, rotation=None):
    made = TransformStamped(child_frame_id=child)
    made.header.frame_id = parent
    made.header.stamp = Time(seconds=seconds).to_msg()
    made.transform.translation.x = x
    made.transform.rotation = rotation or Quaternion(w=1.0)
    return made


def test_a_buffer_tells_and_refuses():
    buffer = tf2_ros.Buffer()
    buffer.set_transform(transform("map", "base", 1.0, x=1.0), "test")
    buffer.set_transform(transform("map", "base", 3.0, x=3.0), "test")
    buffer.set_transform_static(transform("base", "laser", x=0.5), "test")
    found = buffer.lookup_transform("map", "laser", Time(seconds=2))
    assert found.transform.translation.x == pytest.approx(2.5)
    assert (found.header.frame_id, found.child_frame_id) == ("map", "laser")
    full = buffer.lookup_transform_full("base", Time(seconds=1), "base", Time(seconds=3), "map")
    assert full.transform.translation.x == pytest.approx(2.0)
    assert buffer.get_latest_common_time("map", "laser") == Time(seconds=3)
    assert buffer._frameExists("laser") and not buffer._frameExists("lasr")
    assert buffer.can_transform("map", "nowhere", Time()) is False
    known, why = buffer.can_transform("map", "base", Time(seconds=9), return_debug_tuple=True)
    assert not known and "extrapolation into the future" in why
    for error, target, source, time in (
        (tf2_ros.LookupException, "map", "nowhere", Time()),
        (tf2_ros.ExtrapolationException, "map", "base", Time(nanoseconds=1)),
        (tf2_ros.InvalidArgumentException, "/map", "base", Time()),
    ):
        with pytest.raises(error):
            buffer.lookup_transform(target, source, time)
        assert issubclass(error, tf2_ros.TransformException)
    with pytest.raises(TypeError, match="rclpy.time.Time"):
        buffer.lookup_transform("map", "base", 1.5)
    buffer.clear()
    assert not buffer.can_transform("map", "base", Time())


def test_a_lookup_waits_for_another_thread():
    buffer, waits = tf2_ros.Buffer(), threading.Event()
    core = buffer.can_transform_core

    def looked(*question):
        waits.set()
        return core(*question)

    buffer.can_transform_core = looked

    def fill():
        waits.wait()
        buffer.set_transform(transform("map", "base"), "test")

    thread = threading.Thread(target=fill)
    thread.start()
    found = buffer.lookup_transform("map", "base", Time(), Duration(seconds=60))
    thread.join()
    assert found.child_frame_id == "base"
    with pytest.raises(tf2_ros.LookupException):
        buffer.lookup_transform("map", "nowhere", Time(), Duration(seconds=0.05))


def test_futures_end_when_what_they_wait_for_is_known():
    buffer = tf2_ros.Buffer()
    later = buffer.wait_for_transform_async("map", "base", Time())
    full = buffer.wait_for_transform_full_async("map", Time(), "base", Time(), "map")
    other, given_up = (buffer.wait_for_transform_async("map", "hand", Time()) for _ in range(2))
    given_up.cancel()
    seen = []
    # Callbacks may use the buffer, since no lock is held while they run.
    later.add_done_callback(lambda done: seen.append(buffer.wait_for_transform_async(
        "map", "base", Time()).done()))
    buffer.set_transform(transform("map", "base", x=2.0), "test")
    assert later.result().transform.translation.x == 2.0 and full.done() and not other.done()
    assert [one[0] for one in buffer._waiting] == [other]
    awaited = buffer.lookup_transform_async("map", "base", Time())
    with pytest.raises(StopIteration) as ended:
        awaited.send(None)
    assert ended.value.value == later.result()


def test_broadcasters_and_listeners(node, spin_until):
    buffer = tf2_ros.Buffer(node=node)
    listener = tf2_ros.TransformListener(buffer, node)
    still = tf2_ros.Buffer()
    still_listener = tf2_ros.StaticTransformListener(still, node)
    moving, static = tf2_ros.TransformBroadcaster(node), tf2_ros.StaticTransformBroadcaster(node)
    static.sendTransform(transform("base", "laser", x=0.5))
    static.sendTransform([transform("base", "camera"), transform("base", "laser", x=0.25)])
    moving.sendTransform((transform("map", "base", x=1.0),))
    spin_until(lambda: buffer.can_transform("map", "camera", Time()))
    spin_until(lambda: still.can_transform("laser", "camera", Time()))
    assert buffer.lookup_transform("map", "laser", Time()).transform.translation.x == 1.25
    assert not still._frameExists("map")
    # An invalid transform does not prevent valid transforms in the same message from being stored.
    broken = transform("map", "broken", rotation=Quaternion(w=math.nan))
    moving.sendTransform([broken, transform("map", "hand")])
    spin_until(lambda: buffer.can_transform("map", "hand", Time()))
    assert not buffer._frameExists("broken")
    listener.unregister()
    assert not list(node.subscriptions) or listener.tf_sub not in node.subscriptions
    del still_listener


def test_a_listener_with_a_thread_fills_while_nobody_spins(node):
    with rclpy.create_node("sender") as sender:
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer, node, spin_thread=True)
        tf2_ros.StaticTransformBroadcaster(sender).sendTransform(transform("map", "base"))
        assert buffer.can_transform("map", "base", Time(), Duration(seconds=60))
        rclpy.shutdown()
        listener.dedicated_listener_thread.join(60)
        assert not listener.dedicated_listener_thread.is_alive()


def test_a_buffer_client_asks_another_node(node):
    from rclpy.action import ActionServer
    from tf2_msgs.action import LookupTransform

    def execute(goal):
        goal.succeed()
        result = LookupTransform.Result()
        if goal.request.source_frame == "base":
            result.transform = transform("map", "base", x=4.0)
        else:
            result.error.error, result.error.error_string = result.error.LOOKUP_ERROR, "unknown"
        return result

    client = tf2_ros.BufferClient(node, "buffer", timeout_padding=Duration(seconds=60))
    with pytest.raises(tf2_ros.TimeoutException, match="not ready"):
        client.lookup_transform("map", "base", Time())
    with rclpy.create_node("serving") as serving:
        server = ActionServer(serving, LookupTransform, "buffer", execute)
        executor = SingleThreadedExecutor()
        executor.add_node(serving)
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin)
        thread.start()
        try:
            assert client.action_client.wait_for_server(60.0)
            found = client.lookup_transform("map", "base", Time())
            with pytest.raises(tf2_ros.LookupException, match="unknown"):
                client.lookup_transform("map", "hand", Time())
            assert client.can_transform("map", "hand", Time()) is False
        finally:
            executor.shutdown()
            thread.join()
            server.destroy()
    assert found.transform.translation.x == 4.0


def test_messages_of_geometry_are_moved():
    buffer = tf2_ros.Buffer()
    buffer.set_transform_static(transform("a", "b", x=1.0, rotation=TURN), "test")
    point = PointStamped(header=Header(frame_id="a"))
    point.point.x, point.point.y, point.point.z = 1.0, 2.0, 3.0
    moved = buffer.transform(point, "b", new_type=PointStamped)
    assert (moved.point.x, moved.point.y, moved.point.z) == (0.0, -2.0, -3.0)
    assert moved.header.frame_id == "b"
    pose = PoseStamped(header=point.header)
    pose.pose.position, pose.pose.orientation = point.point, TURN
    moved = buffer.transform(pose, "b")
    assert moved.pose.position.y == -2.0 and moved.pose.orientation.w == 1.0
    vector = Vector3Stamped(header=point.header)
    vector.vector.x, vector.vector.y = 1.0, 1.0
    moved = tf2_geometry_msgs.do_transform_vector3(
        vector, transform("b", "a", x=5.0, rotation=TURN))
    assert (moved.vector.x, moved.vector.y) == (1.0, -1.0)
    with pytest.raises(tf2_ros.TypeException, match="not loaded or supported"):
        buffer.transform(String(), "b")
    with pytest.raises(tf2_ros.TypeException):
        tf2_ros.convert(point, String)


def test_a_covariance_turns_with_its_pose():
    # A quarter turn around z turns x into y. The quaternion is normalized, so it may have any
    # length.
    quarter = transform("b", "a", x=1.0, rotation=Quaternion(w=2.0, z=2.0))
    pose = PoseWithCovarianceStamped()
    pose.pose.covariance = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).reshape(36)
    moved = tf2_geometry_msgs.do_transform_pose_with_covariance_stamped(pose, quarter)
    assert np.allclose(
        np.diag(moved.pose.covariance.reshape(6, 6)), [2.0, 1.0, 3.0, 5.0, 4.0, 6.0])
    assert moved.pose.pose.position.x == 1.0


def test_a_cloud_is_moved_and_its_other_fields_are_not():
    fields = [
        PointField(name=name, offset=4 * index, datatype=PointField.FLOAT32, count=1)
        for index, name in enumerate("xyza")
    ]
    points = np.array([[1, 2, 0, 9], [10, 20, 30, 9]], dtype=np.float32)
    cloud = point_cloud2.create_cloud(Header(frame_id="a"), fields, points)
    moved = tf2_sensor_msgs.do_transform_cloud(
        cloud, transform("b", "a", x=100.0, rotation=Quaternion(x=1.0, w=0.0)))
    assert moved.header.frame_id == "b"
    assert np.allclose(
        point_cloud2.read_points_numpy(moved), [[101, -2, 0, 9], [110, -20, -30, 9]])
    assert np.array_equal(point_cloud2.read_points_numpy(cloud), points)
    buffer = tf2_ros.Buffer()
    buffer.set_transform_static(transform("b", "a", x=100.0), "test")
    assert point_cloud2.read_points_numpy(buffer.transform(cloud, "b"))[0, 0] == 101
    with pytest.raises(AssertionError, match="no field z"):
        tf2_sensor_msgs.do_transform_cloud(
            point_cloud2.create_cloud(Header(), fields[:2], points[:, :2]), transform("b", "a"))
