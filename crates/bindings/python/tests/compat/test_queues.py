"""Queues in the package rclpy are bounded, losses are counted and reported, and memory does not
grow."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import SetBool


def test_messages_that_nobody_took_are_counted_and_told(node, eventually):
    heard, lost, begun, proceed = [], [], threading.Event(), threading.Event()

    def hear(message):
        heard.append(message.data)
        begun.set()
        proceed.wait(60)

    subscription = node.create_subscription(
        String, "chatter", hear, 2, callback_group=MutuallyExclusiveCallbackGroup(),
        event_callbacks=SubscriptionEventCallbacks(
            message_lost=lambda status: lost.append(status)))
    publisher = node.create_publisher(String, "chatter", 100)
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    publisher.publish(String(data="first"))
    assert begun.wait(60)
    for number in range(10):
        publisher.publish(String(data=str(number)))
    # The queue of the transport has the same depth, so the transport may also lose some messages.
    eventually(lambda: subscription.dropped_messages + subscription._lost_before == 8)
    assert not lost  # the event is in the same group
    proceed.set()
    eventually(lambda: len(heard) == 3 and lost)
    assert heard == ["first", "8", "9"]
    assert [(one.total_count, one.total_count_change) for one in lost] == [(8, 8)]
    executor.shutdown()
    spinning.join()


def _resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_hundred_thousand_callbacks_do_not_grow(node):
    executor, calls = SingleThreadedExecutor(), [0]
    executor.add_node(node)

    def called(*_):
        calls[0] += 1

    guard = node.create_guard_condition(called)
    node.create_subscription(String, "chatter", called, 10)
    node.create_service(SetBool, "switch", lambda _, response: response)
    publisher = node.create_publisher(String, "chatter", 10)
    client = node.create_client(SetBool, "switch")

    async def task():
        called()

    def run(number):
        for _ in range(number):
            guard.trigger()
            executor.create_task(task)
            executor.spin_once(0)
            executor.spin_once(0)
        for _ in range(number // 50):
            publisher.publish(String(data="one"))
            executor.spin_once(1.0)
            executor.spin_until_future_complete(client.call_async(SetBool.Request()), 60)

    run(5_000)  # permanent objects exist from now on
    gc.collect()
    before, objects = _resident(), len(gc.get_objects())
    run(50_000)
    gc.collect()
    assert calls[0] >= 100_000
    assert len(gc.get_objects()) - objects < 1_000
    assert _resident() - before < 8 << 20
    for _ in range(10):
        executor.spin_once(0)  # completes the work after the last response
    assert not executor._sleeping and len(executor._sources) < 10 and not client._pending
    executor.shutdown()


_TALKS = """
    import rclpy, sys
    from std_msgs.msg import String
    rclpy.init()
    node = rclpy.create_node("killed")
    publisher = node.create_publisher(String, "chatter", 10)
    node.create_timer(0.01, lambda: publisher.publish(String(data=sys.argv[1])))
    print("ready", flush=True)
    rclpy.spin(node)
"""


def test_a_process_that_is_killed_is_followed_by_the_next(node, spin_until):
    heard = []
    node.create_subscription(String, "chatter", lambda m: heard.append(m.data), 10)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for text in ("first", "second"):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(_TALKS), text], stdout=subprocess.PIPE,
            env=environment,
        ) as process:
            try:
                assert process.stdout.readline() == b"ready\n"
                spin_until(lambda: text in heard)
            finally:
                process.send_signal(signal.SIGKILL)
    # Expired leases or closed connections show that the nodes no longer exist.
    spin_until(lambda: "killed" not in node.get_node_names())
    spin_until(lambda: node.count_publishers("chatter") == 0)


def test_exceptions_of_tasks_and_threads_reach_who_spins(node):
    async def fail():
        raise KeyError("of a task")

    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.create_task(fail)
    with pytest.raises(KeyError, match="of a task"):
        executor.spin_once(1.0)
    threads = MultiThreadedExecutor(2)
    threads.add_node(node)
    node.create_guard_condition(lambda: 1 / 0).trigger()
    with pytest.raises(ZeroDivisionError):
        threads.spin()
    threads.shutdown()
    executor.shutdown()
    rclpy.spin_once(node, timeout_sec=0)


def test_a_callback_frees_its_group_however_it_ends(node):
    """After an exception, a wait or a return in a callback, other callbacks of its group run."""
    executor, heard = SingleThreadedExecutor(), []
    executor.add_node(node)

    async def wait_and_hear(message):
        heard.append(f"async {message.data}")

    def hear(message):
        heard.append(message.data)
        if message.data == "raise":
            raise KeyError("of a callback")
        if message.data == "spin":
            publisher.publish(String(data="nested"))
            executor.spin_once(60)  # runs another group, since this one is occupied
        return len(heard)

    group = MutuallyExclusiveCallbackGroup()
    node.create_subscription(String, "chatter", hear, 10, callback_group=group)
    node.create_subscription(String, "chatter", wait_and_hear, 10)
    publisher = node.create_publisher(String, "chatter", 10)
    for text in ("raise", "spin", "last"):
        publisher.publish(String(data=text))
    raised = 0
    while len(heard) < 8:
        try:
            executor.spin_once(60)
        except KeyError:
            raised += 1
    assert raised == 1
    assert [text for text in heard if "async" not in text] == ["raise", "spin", "last", "nested"]
    assert sorted(text for text in heard if "async" in text) == [
        "async last", "async nested", "async raise", "async spin"]
    executor.shutdown()


def test_a_callback_that_is_replaced_is_called_no_more(node):
    executor, heard = SingleThreadedExecutor(), []
    executor.add_node(node)
    subscription = node.create_subscription(
        String, "chatter", lambda message: heard.append(("first", message.data)), 10)
    publisher = node.create_publisher(String, "chatter", 10)
    publisher.publish(String(data="one"))
    executor.spin_once(60)
    subscription.callback = lambda message, info: heard.append(
        ("with info", message.data, info["source_timestamp"] > 0))
    publisher.publish(String(data="two"))
    executor.spin_once(60)
    subscription.callback = lambda message: heard.append(("last", message.data))
    publisher.publish(String(data="three"))
    executor.spin_once(60)
    assert heard == [("first", "one"), ("with info", "two", True), ("last", "three")]
    executor.shutdown()
