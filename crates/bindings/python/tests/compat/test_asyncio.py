"""Futures of the package rclpy in coroutines that no executor of rclpy runs."""

import asyncio
import threading

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future, Task
from std_srvs.srv import SetBool


def test_a_loop_of_asyncio_awaits_what_another_thread_answers(node):
    client = node.create_client(SetBool, "switch")
    node.create_service(SetBool, "switch", lambda _, response: response)
    assert client.wait_for_service(60.0)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()

    async def call():
        both = [asyncio.create_task(_awaited(client.call_async(SetBool.Request()))) for _ in "ab"]
        return await asyncio.wait_for(asyncio.gather(*both), 60)

    try:
        assert asyncio.run(call()) == [SetBool.Response()] * 2
    finally:
        executor.shutdown()
        thread.join()


def test_a_loop_of_asyncio_may_spin_the_node_itself(node):
    client = node.create_client(SetBool, "switch")

    async def serve(_, response):
        await client_is_told
        return response

    node.create_service(SetBool, "switch", serve)
    assert client.wait_for_service(60.0)
    client_is_told = Future()

    async def spin(answer):
        while not answer.done():
            rclpy.spin_once(node, timeout_sec=0)
            await asyncio.sleep(0.001)
            client_is_told.set_result(None)

    async def work():
        answer = client.call_async(SetBool.Request())
        _, response = await asyncio.wait_for(asyncio.gather(spin(answer), _awaited(answer)), 60)
        return response

    assert asyncio.run(work()) == SetBool.Response()


def test_a_loop_that_ended_is_not_woken():
    future = Future()

    async def give_up():
        waiting = asyncio.create_task(_awaited(future))
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(give_up())
    future.set_result("late")
    assert future.result() == "late"


def test_a_script_may_run_a_coroutine_by_hand():
    future = Future()
    coroutine = _awaited(future)
    assert coroutine.send(None) is None
    inner = Task(lambda: coroutine.send(None))
    inner()  # a task that runs a coroutine of a script
    assert inner.done()
    future.set_result(3)
    try:
        coroutine.send(None)
    except StopIteration as end:
        assert end.value == 3


async def _awaited(future):
    return await future
