"""The package rclpy of Feros behaves like the stock package."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidHandle,
    InvalidNodeNameException,
    InvalidTopicNameException,
    NotInitializedException,
    ParameterAlreadyDeclaredException,
    ParameterNotDeclaredException,
)
from rclpy.executors import (
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node
from rclpy.subscription import RCLError
from rclpy.parameter import Parameter
from rclpy.task import Future
from rclpy.wait_for_message import wait_for_message
from rcl_interfaces.msg import SetParametersResult
from std_msgs.msg import String
from std_srvs.srv import SetBool


def test_a_publisher_and_a_subscription_of_one_node(node, spin_until):
    heard = []
    node.create_subscription(String, "chatter", lambda m: heard.append(m.data), 10)
    publisher = node.create_publisher(String, "chatter", 10)
    publisher.publish(String(data="one"))
    publisher.publish(String(data="two"))
    spin_until(lambda: heard == ["one", "two"])


def test_spin_once_runs_one_callback(node):
    calls = []
    guards = [node.create_guard_condition(lambda n=n: calls.append(n)) for n in range(3)]
    for guard in guards:
        guard.trigger()
    rclpy.spin_once(node, timeout_sec=1.0)
    assert calls == [0]
    rclpy.spin_once(node, timeout_sec=1.0)
    assert calls == [0, 1]


def test_a_callback_with_two_parameters_gets_the_info(node, spin_until):
    heard = []
    node.create_subscription(String, "chatter", lambda m, info: heard.append(info), 10)
    node.create_publisher(String, "chatter", 10).publish(String(data="one"))
    spin_until(lambda: heard)
    assert heard[0]["source_timestamp"] > 0
    assert heard[0]["publication_sequence_number"] == 1


def test_an_async_callback_is_resumed_when_its_service_answered(node, spin_until):
    group, results = ReentrantCallbackGroup(), []
    client = node.create_client(SetBool, "switch", callback_group=group)

    def answer(request, response):
        response.success = request.data
        return response

    async def call():
        timer.cancel()
        response = await client.call_async(SetBool.Request(data=True))
        results.append(response.success)

    node.create_service(SetBool, "switch", answer)
    timer = node.create_timer(0.001, call, callback_group=group)
    spin_until(lambda: results)
    assert results == [True]


def test_a_callback_may_spin_its_node(node, eventually):
    group, results = ReentrantCallbackGroup(), []
    client = node.create_client(SetBool, "switch", callback_group=group)
    node.create_service(SetBool, "switch", lambda _, response: response, callback_group=group)
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def call():
        guard.destroy()
        future = client.call_async(SetBool.Request())
        executor.spin_until_future_complete(future)
        results.append(future.result())

    guard = node.create_guard_condition(call, group)
    guard.trigger()
    eventually(lambda: results, lambda: executor.spin_once(timeout_sec=0.1))


def test_exceptions_of_callbacks_reach_who_spins(node):
    def fail():
        raise RuntimeError("of a callback")

    node.create_guard_condition(fail).trigger()
    with pytest.raises(RuntimeError, match="of a callback"):
        rclpy.spin_once(node, timeout_sec=10.0)


def test_callbacks_of_several_threads_keep_their_groups(node, eventually):
    running, most, calls = [0], [0], [0]

    def work():
        running[0] += 1
        most[0] = max(most[0], running[0])
        calls[0] += 1
        running[0] -= 1

    for _ in range(4):
        node.create_timer(0.001, work)  # all timers are in the node's default group
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    eventually(lambda: calls[0] >= 200, lambda: executor.spin_once(timeout_sec=0.1))
    executor.shutdown()
    assert most[0] == 1


def test_a_subscription_destroyed_in_its_callback(node, spin_until):
    heard = []

    def hear(message):
        heard.append(message.data)
        node.destroy_subscription(subscription)

    subscription = node.create_subscription(String, "chatter", hear, 10)
    publisher = node.create_publisher(String, "chatter", 10)
    for text in ("one", "two"):
        publisher.publish(String(data=text))
    spin_until(lambda: heard)
    rclpy.spin_once(node, timeout_sec=0)
    assert heard == ["one"]
    with pytest.raises(InvalidHandle):
        subscription.topic_name


def test_spinning_ends_when_the_context_does():
    context = rclpy.context.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("ends", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    node.create_guard_condition(context.shutdown).trigger()
    executor.spin()
    with pytest.raises(ExternalShutdownException):
        executor.spin_once()
    assert not context.ok()
    with pytest.raises(NotInitializedException):
        rclpy.create_node("too_late", context=context)


def test_a_time_limit_ends_the_waiting_for_a_future(node):
    future = Future()
    rclpy.spin_until_future_complete(node, future, timeout_sec=0.05)
    assert not future.done()
    found, message = wait_for_message(String, node, "nobody", time_to_wait=0.05)
    assert (found, message) == (False, None)


def test_names_that_are_none(node):
    with pytest.raises(InvalidTopicNameException, match=r"(?s)must not contain characters.*\^"):
        node.create_publisher(String, "chatter?", 10)
    with pytest.raises(InvalidNodeNameException):
        Node("no?de")
    with pytest.raises(TypeError):
        node.create_publisher(String, "chatter", 10).publish("text")


def test_parameters(node):
    node.declare_parameter("speed", 1.5)
    assert node.get_parameter("speed").value == 1.5
    with pytest.raises(ParameterAlreadyDeclaredException):
        node.declare_parameter("speed", 2.0)
    with pytest.raises(ParameterNotDeclaredException):
        node.get_parameter("unknown")
    result = node.set_parameters([Parameter("speed", value="fast")])[0]
    assert not result.successful and result.reason.startswith("Wrong parameter type")

    def check(parameters):
        slow = all(one.value < 10 for one in parameters)
        return SetParametersResult(successful=slow, reason="" if slow else "too fast")

    node.add_on_set_parameters_callback(check)
    result = node.set_parameters([Parameter("speed", value=20.0)])[0]
    assert (result.successful, result.reason) == (False, "too fast")
    assert node.set_parameters([Parameter("speed", value=2.0)])[0].successful
    assert node.get_parameter("speed").value == 2.0


def test_overrides_of_the_command_line():
    arguments = ["--ros-args", "-p", "speed:=2.5", "-r", "chatter:=/other"]
    with rclpy.init(args=arguments):
        node = rclpy.create_node("overridden")
        assert node.declare_parameter("speed", 1.0).value == 2.5
        assert node.resolve_topic_name("chatter") == "/other"


def test_overrides_have_the_declared_type():
    arguments = ["--ros-args"]
    for assignment in ("bytes:=[1, 255]", "empty:=[]", "too_large:=[256]"):
        arguments += ["-p", assignment]
    with rclpy.init(args=arguments):
        node = rclpy.create_node("overridden")
        assert node.declare_parameter("bytes", [b"\x00"]).value == [b"\x01", b"\xff"]
        empty = node.declare_parameter("empty", ["a"])
        assert (empty.type_, empty.value) == (Parameter.Type.STRING_ARRAY, [])
        with pytest.raises(InvalidParameterTypeException):
            node.declare_parameter("too_large", [b"\x00"])


_SPINS = """
    import rclpy
    rclpy.init()
    node = rclpy.create_node("signalled")
    try:
        print("ready", flush=True)
        rclpy.spin(node)
        print("returned", rclpy.ok())
    except BaseException as error:
        print(type(error).__name__, rclpy.ok())
        if not isinstance(error, (KeyboardInterrupt, rclpy.executors.ExternalShutdownException)):
            raise
"""


@pytest.mark.parametrize(
    ("number", "ends"),
    [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "ExternalShutdownException")],
)
def test_signals_end_spinning(number, ends):
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    script += textwrap.dedent(_SPINS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        told, _ = process.communicate(timeout=60)
    assert told == f"{ends} False\n" or (number == signal.SIGTERM and told == "returned False\n")


def test_with_stock(node, spin_until, start, stock):
    start("stock_node.py", python=stock)
    heard = []
    node.create_subscription(String, "back", lambda m: heard.append(m.data), 10)
    there = node.create_publisher(String, "there", 10)
    spin_until(lambda: node.count_publishers("back") and there.get_subscription_count())

    def send():
        there.publish(String(data="there and back"))
        return bool(heard)

    spin_until(send)
    assert set(heard) == {"there and back"}
    client = node.create_client(SetBool, "stock_service")
    assert client.wait_for_service(60.0)
    future = client.call_async(SetBool.Request(data=True))
    rclpy.spin_until_future_complete(node, future, timeout_sec=60)
    assert (future.result().success, future.result().message) == (True, "stock")


def test_parameters_of_another_node(node):
    from rclpy.parameter_client import AsyncParameterClient

    with rclpy.create_node("other") as other:
        other.declare_parameter("speed", 1.5)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        executor.add_node(other)
        client = AsyncParameterClient(node, "other")
        assert client.wait_for_services(60.0)

        def answer(future):
            executor.spin_until_future_complete(future, timeout_sec=60)
            return future.result()

        assert answer(client.get_parameters(["speed"])).values[0].double_value == 1.5
        assert answer(client.set_parameters([Parameter("speed", value=2.0)])).results[0].successful
        assert other.get_parameter("speed").value == 2.0
        assert "speed" in answer(client.list_parameters()).result.names
        refused = answer(client.set_parameters([Parameter("unknown", value=2.0)])).results[0]
        assert not refused.successful


def test_waiting_for_a_service_ends_with_the_context():
    # If the call returned False, a loop around it that does not check `ok()` would never end.
    from rclpy.action import ActionClient
    from test_msgs.action import Fibonacci

    context = rclpy.context.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("waits", context=context)
    client = node.create_client(SetBool, "nobody")
    action = ActionClient(node, Fibonacci, "nobody")
    assert not client.wait_for_service(0.01)
    context.shutdown()
    with pytest.raises(RCLError, match="shut down"):
        client.wait_for_service(0.01)
    with pytest.raises(RCLError, match="shut down"):
        client.service_is_ready()
    with pytest.raises(RCLError, match="shut down"):
        action.wait_for_server(0.01)


def test_messages_of_another_installation_are_refused(tmp_path):
    foreign = tmp_path / "builtin_interfaces" / "msg"
    foreign.mkdir(parents=True)
    (foreign.parent / "__init__.py").touch()
    (foreign / "__init__.py").write_text("class Time: pass\nclass Duration: pass\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    ended = subprocess.run(
        [sys.executable, "-c", "import rclpy"], capture_output=True, text=True, env=environment)
    assert ended.returncode == 1
    assert "cannot be mixed" in ended.stderr


def test_who_only_looks_receives_all_the_same(node, eventually):
    received = []
    node.create_subscription(String, "numbers", received.append, 10)
    publisher = node.create_publisher(String, "numbers", 10)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    publisher.publish(String(data="1"))
    eventually(lambda: len(received) == 1, lambda: executor.spin_once(timeout_sec=0))
    executor.wake()
    publisher.publish(String(data="2"))
    eventually(lambda: len(received) == 2, lambda: executor.spin_once(timeout_sec=0))
    executor.shutdown()
    publisher.publish(String(data="3"))
    eventually(lambda: len(received) == 3, lambda: rclpy.spin_once(node, timeout_sec=0))


def test_modules_that_stock_loads_with_a_node_need_no_import():
    program = "import rclpy; rclpy.executors.SingleThreadedExecutor; rclpy.logging.get_logger('a')"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rclpy.nothing


def test_a_client_that_has_gone_ends_no_server(node):
    client = node.create_client(SetBool, "asked")

    def answer(_, response):
        node.destroy_client(client)
        return response

    service = node.create_service(SetBool, "asked", answer)
    assert client.wait_for_service(60)
    client.call_async(SetBool.Request())
    while client in list(node.clients):
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.spin_once(node, timeout_sec=0.1)
    other = node.create_client(SetBool, "asked")
    service.callback = lambda _, response: response
    assert other.wait_for_service(60)
    answered = other.call_async(SetBool.Request())
    rclpy.spin_until_future_complete(node, answered, timeout_sec=60)
    assert answered.result() is not None


def test_a_timer_may_be_due_at_once_while_others_spin(node, eventually):
    executor, calls = SingleThreadedExecutor(context=node.context), []
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    for _ in range(20):
        timer = node.create_timer(0.0, lambda: calls.append(1))
        eventually(lambda: calls)
        node.destroy_timer(timer)
        calls.clear()
    executor.shutdown()
    spinning.join()
