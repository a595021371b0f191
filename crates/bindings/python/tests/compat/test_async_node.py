"""Nodes of the package rclpy in an asyncio event loop."""

import asyncio
import sys

import pytest
import rclpy
from rclpy.clock import ClockType
from rclpy.exceptions import TimeSourceChangedError
from rclpy.experimental import AsyncNode, EventsExecutor
from rclpy.parameter import Parameter
from rclpy.time import Time
from std_msgs.msg import String
from std_srvs.srv import SetBool

needs_groups = pytest.mark.skipif(sys.version_info < (3, 11), reason="AsyncNode needs 3.11")


def run(work):
    """Runs a coroutine function under a context, with a watchdog."""

    async def guarded():
        async with asyncio.timeout(60):
            return await work()

    with rclpy.init(args=[]):
        return asyncio.run(guarded())


@needs_groups
def test_messages_come_to_plain_and_async_callbacks():
    async def work():
        heard, both = [], asyncio.Event()

        def plain(message):
            heard.append(("plain", message.data))

        async def slow(message, info):
            await asyncio.sleep(0)
            heard.append(("async", message.data, "source_timestamp" in info))
            both.set()

        node = AsyncNode("listener")
        node.create_subscription(String, "chatter", plain, 10)  # before the loop runs it
        async with node:
            node.create_subscription(String, "chatter", slow, 10)
            node.create_publisher(String, "chatter", 10).publish(String(data="one"))
            await both.wait()
            while len(heard) < 2:
                await asyncio.sleep(0.01)
        return heard

    assert sorted(run(work)) == [("async", "one", True), ("plain", "one")]


@needs_groups
def test_callbacks_of_one_entity_run_one_after_another_unless_concurrent():
    async def most_at_once(concurrent):
        running, most, ended = 0, 0, asyncio.Semaphore(0)

        async def callback(_):
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.02)
            running -= 1
            ended.release()

        async with AsyncNode("listener") as node:
            node.create_subscription(String, "chatter", callback, 10, concurrent=concurrent)
            publisher = node.create_publisher(String, "chatter", 10)
            for text in "abc":
                publisher.publish(String(data=text))
            for _ in "abc":
                await ended.acquire()
        return most

    assert run(lambda: most_at_once(False)) == 1
    assert run(lambda: most_at_once(True)) > 1


@needs_groups
def test_calls_are_awaited_and_can_be_given_up():
    async def work():
        first = True

        async def answer(request, response):
            nonlocal first
            if first:
                first = False
                await asyncio.Event().wait()
            response.success = request.data
            return response

        async with AsyncNode("server") as server, AsyncNode("client") as node:
            server.create_service(SetBool, "switch", answer, concurrent=True)
            client = node.create_client(SetBool, "switch")
            await client.wait_for_service()
            with pytest.raises(TimeoutError):
                await client.call(SetBool.Request(data=True), timeout_sec=0.1)
            assert not client._pending
            assert (await client.call(SetBool.Request(data=True))).success
            client.destroy()
            with pytest.raises(RuntimeError):
                await client.call(SetBool.Request())
            nobody = node.create_client(SetBool, "nobody")
            assert not await nobody.wait_for_service(0.05)
            await node.wait_for_node("/server")
            assert not await node.wait_for_node("nobody", 0.05)

    run(work)


@needs_groups
def test_timers_and_what_they_raise():
    async def fail():
        raise ValueError("of a timer")

    async def work():
        infos = []
        node = AsyncNode("timed")

        async def tick(info):
            infos.append(info)
            if len(infos) == 3:
                node.destroy_node()

        node.create_timer(0.01, tick)
        await node.run()
        assert infos[-1].actual_call_time is not None
        bad = AsyncNode("bad")
        bad.create_timer(0.01, fail)
        with pytest.raises(ExceptionGroup) as raised:
            await bad.run()
        assert raised.value.subgroup(ValueError)
        other = AsyncNode("other")
        with pytest.raises(RuntimeError):
            other.create_timer(1.0, lambda one, two: None)
        other.destroy_node()
        other.destroy_node()
        with pytest.raises(RuntimeError):
            other.create_timer(1.0, lambda: None)

    run(work)


@needs_groups
def test_a_node_runs_once_and_ends_with_its_context():
    async def work():
        context = rclpy.context.Context()
        context.init(args=[])
        ticked = asyncio.Event()

        async def tick():
            ticked.set()
            await asyncio.sleep(600)

        node = AsyncNode("ends", context=context)
        node.create_timer(0.01, tick)
        async with node:
            with pytest.raises(RuntimeError, match="once"):
                await node.run()
            await ticked.wait()
            context.shutdown()
        with pytest.raises(RuntimeError):
            node.create_timer(0.01, tick)
        with pytest.raises(ExceptionGroup):
            async with AsyncNode("raises"):
                raise ValueError("of a body")

    run(work)


def test_the_executor_of_events_is_the_same_executor(node, eventually):
    executor, calls = EventsExecutor(), []
    executor.add_node(node)
    node.create_timer(0.001, lambda: calls.append(1))
    eventually(lambda: len(calls) > 3, lambda: executor.spin_once(0.1))
    executor.shutdown()


@needs_groups
def test_tasks_sleep_by_the_clock_of_their_node():
    async def work():
        async with AsyncNode("sleeper") as node:
            clock = node.get_clock()
            await clock.sleep(0)
            await clock.sleep(-1.0)
            before = clock.now()
            await asyncio.gather(clock.sleep(0.02), clock.sleep(0.05))
            assert (clock.now() - before).nanoseconds >= 50_000_000
            sleeping = asyncio.create_task(clock.sleep(1000))
            await asyncio.sleep(0)
            node.destroy_node()
            with pytest.raises(asyncio.CancelledError):
                await sleeping
        with pytest.raises(RuntimeError):
            await clock.sleep(1)

    run(work)


@needs_groups
def test_tasks_sleep_by_simulated_time():
    def seconds(number):
        return Time(seconds=number, clock_type=ClockType.ROS_TIME)

    async def work():
        simulated = Parameter("use_sim_time", value=True)
        async with AsyncNode("sleeper", parameter_overrides=[simulated]) as node:
            clock, ticks = node.get_clock(), asyncio.Semaphore(0)
            clock.set_ros_time_override(seconds(10))
            assert clock.ros_time_is_active and clock.now() == seconds(10)
            node.create_timer(2.0, ticks.release)
            early, late = (asyncio.create_task(clock.sleep(span)) for span in (1.0, 5.0))
            await asyncio.sleep(0.05)
            assert not early.done() and ticks.locked()
            clock.set_ros_time_override(seconds(12))
            await early
            await ticks.acquire()
            assert not late.done()
            clock.set_ros_time_override(seconds(16))
            await late
            awake = asyncio.create_task(clock.sleep(1000))
            await asyncio.sleep(0)
            node.set_parameters([Parameter("use_sim_time", value=False)])
            with pytest.raises(TimeSourceChangedError):
                await awake

    run(work)
