"""Nodes in this process, in another process, and with stock ROS 2."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import feros
from feros.interfaces import get_interface, type_hash
from feros.msgs.sensor_msgs.msg import Image
from feros.msgs.std_msgs.msg import String
from feros.msgs.std_srvs.srv import SetBool


def texts(count):
    return [f"text {number}" for number in range(count)]


def test_messages_arrive_in_order(context, eventually):
    node = context.create_node("one")
    heard = []
    node.create_subscription(String, "chatter", lambda m: heard.append(m.data), 100)
    publisher = node.create_publisher(String, "chatter", 100)
    publisher.wait_for_subscriptions(1, 60)
    for text in texts(50):
        publisher.publish(String(data=text))
    with feros.Executor() as executor:
        executor.add_node(node)
        eventually(lambda: len(heard) == 50, lambda: executor.spin_once(0.1))
    assert heard == texts(50)
    assert publisher.counts()[0] == 50


def test_a_callback_may_want_to_know_more(context, eventually):
    node = context.create_node("informed")
    heard = []
    node.create_subscription(String, "informed", lambda m, info: heard.append(info), 10)
    publisher = node.create_publisher(String, "informed", 10)
    publisher.wait_for_subscriptions(1, 60)
    publisher.publish(String())
    with feros.Executor() as executor:
        executor.add_node(node)
        eventually(lambda: heard, lambda: executor.spin_once(0.1))
    info = heard[0]
    assert info.publication_sequence_number == 1
    assert info.source_timestamp > 0
    assert info.publisher_gid == publisher.gid
    assert repr(info) == (
        f"MessageInfo(source_timestamp={info.source_timestamp}, "
        f"received_timestamp={info.received_timestamp}, publication_sequence_number=1, "
        f"publisher_gid={publisher.gid.hex()}, is_same_context=True)"
    )


def test_an_exception_of_a_callback_leaves_spin(context):
    node = context.create_node("raising")
    node.create_wall_timer(0.001, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        feros.spin(node)
    assert context.ok()


def test_an_exception_on_a_thread_of_several_leaves_spin(context):
    node = context.create_node("raising")
    group = node.create_callback_group(reentrant=True)
    node.create_wall_timer(0.001, lambda: 1 // 0, callback_group=group)
    with feros.Executor(threads=3) as executor:
        executor.add_node(node)
        with pytest.raises(ZeroDivisionError):
            executor.spin()


def test_threads_run_callbacks_beside_each_other(context):
    node = context.create_node("parallel")
    group = node.create_callback_group(reentrant=True)
    barrier = threading.Barrier(2)
    done = []

    def meet():
        if not done:
            barrier.wait(60)
            done.append(True)

    node.create_wall_timer(0.01, meet, callback_group=group)
    node.create_wall_timer(0.01, meet, callback_group=group)
    with feros.Executor(threads=2) as executor:
        executor.add_node(node)
        assert executor.spin_until(lambda: len(done) >= 1, 60)


def test_an_exception_in_a_condition_ends_its_wait(context):
    node = context.create_node("asked")
    node.create_wall_timer(0.01, lambda: None)
    asked = []

    def is_done():
        asked.append(True)
        if len(asked) == 2:  # the executor and not the caller made the first call
            raise KeyError("while asked")
        return len(asked) > 2

    with feros.Executor() as executor:
        executor.add_node(node)
        with pytest.raises(KeyError, match="while asked"):
            executor.spin_until(is_done, 60)
    assert len(asked) == 2


def test_an_executor_goes_by_priorities(context):
    node = context.create_node("urgent")
    called = []
    for priority in (1, 3, 2):
        node.create_wall_timer(0.01, lambda p=priority: called.append(p), priority=priority)
    import time

    time.sleep(0.1)  # until all timers are due
    with feros.Executor(policy="priority") as executor:
        executor.add_node(node)
        for _ in range(3):
            executor.spin_once(10)
    assert called[0] == 3


def test_using_a_destroyed_publisher_is_an_error(context):
    node = context.create_node("destroyed")
    publisher = node.create_publisher(String, "gone")
    publisher.destroy()
    with pytest.raises(feros.FerosError, match="destroyed"):
        publisher.publish(String())
    with pytest.raises(feros.FerosError, match="destroyed"):
        publisher.topic_name


def test_wrong_names_and_types_are_errors(context):
    with pytest.raises(feros.FerosError, match="allowed"):
        context.create_node("a b")
    node = context.create_node("right")
    with pytest.raises(feros.FerosError):
        node.create_publisher(String, "a topic")
    with pytest.raises(TypeError, match="not a message class"):
        node.create_publisher(int, "number")
    with pytest.raises(TypeError, match="Image"):
        node.create_publisher(Image, "image").publish(String())
    with pytest.raises(ValueError):
        node.create_publisher(String, "depth", -1)


def test_a_context_announces_itself_as_the_distribution_wants(context, eventually):
    node = context.create_node("usual")
    with feros.Context([], ros_distro="humble") as humble:
        other = humble.create_node("as_in_humble")
        both = {("usual", "/"), ("as_in_humble", "/")}
        eventually(lambda: both <= set(node.node_names()) & set(other.node_names()))
    with pytest.raises(feros.FerosError, match="takes one of humble, iron"):
        feros.Context([], ros_distro="galactic")


def test_a_with_block_ends_the_context_before_its_nodes(context, eventually):
    """The engine then tells others once that all nodes have left, instead of each endpoint."""
    seen = []

    class Watched(feros.Node):
        def destroy(self):
            seen.append((self.name, self.context.ok()))
            super().destroy()

    watcher = context.create_node("watcher")
    with feros.Context([]) as ending:
        nodes = [Watched(name, context=ending) for name in ("first", "second")]
        ending.on_shutdown(lambda: seen.append([node.name for node in nodes]))
        both = {("first", "/"), ("second", "/")}
        eventually(lambda: both <= set(watcher.node_names()))
    assert seen[0] == ["first", "second"]
    assert sorted(seen[1:]) == [("first", False), ("second", False)]
    eventually(lambda: not both & set(watcher.node_names()))


def test_services_answer_in_place_and_later(context):
    node = context.create_node("server")
    late = []

    def answer(request):
        return SetBool.Response(success=request.data, message="now")

    node.create_service(SetBool, "now", answer)
    node.create_service(SetBool, "later", lambda request, responder: late.append(responder))
    context.spin_in_background(node)
    client = context.create_node("client")
    now, later = client.create_client(SetBool, "now"), client.create_client(SetBool, "later")
    assert now.wait_for_service(60) and later.wait_for_service(60)
    assert now.call(SetBool.Request(data=True)).wait(60).message == "now"
    call = later.call(SetBool.Request())
    with pytest.raises(TimeoutError):
        call.wait(0.05)
    while not late:
        pass
    late[0].send(SetBool.Response(message="later"))
    assert call.wait(60).message == "later"
    with pytest.raises(feros.FerosError, match="already answered"):
        late[0].send(SetBool.Response())


def test_a_client_that_leaves_does_not_end_its_server(context):
    server = context.create_node("server")
    clients, asked = [], []

    def leave(request):
        clients[0].destroy()
        return SetBool.Response(success=True)

    def leave_later(request, responder):
        clients[1].destroy()
        asked.append(responder)

    server.create_service(SetBool, "leave", leave)
    server.create_service(SetBool, "later", leave_later)
    node = context.create_node("clients")
    clients += [node.create_client(SetBool, "leave"), node.create_client(SetBool, "later")]
    with feros.Executor() as executor:
        executor.add_node(server)
        for client in clients:
            assert client.wait_for_service(60)
            client.call(SetBool.Request())
        assert executor.spin_until(lambda: asked, 60)
        with pytest.raises(feros.FerosError, match="cannot be reached"):
            asked[0].send(SetBool.Response())

        def leave_and_send(request, responder):
            clients[2].destroy()
            responder.send(SetBool.Response())

        server.create_service(SetBool, "sends", leave_and_send)
        clients.append(node.create_client(SetBool, "sends"))
        assert clients[2].wait_for_service(60)
        clients[2].call(SetBool.Request())
        with pytest.raises(feros.FerosError, match="cannot be reached"):
            executor.spin_until(lambda: False, 60)
    context.spin_in_background(server)
    again = node.create_client(SetBool, "leave")
    assert again.wait_for_service(60)
    assert again.call(SetBool.Request()).wait(60).success


def test_an_action_client_that_leaves_does_not_end_the_server(context):
    fibonacci = get_interface("example_interfaces/action/Fibonacci")
    server, node = context.create_node("server"), context.create_node("client")
    clients, asked = [], []

    def is_accepted(goal):
        asked.append(goal.order)
        if goal.order == 0:
            clients[0].destroy()
        return True

    server.create_action_server(
        fibonacci, "left", lambda goal: fibonacci.Result(), on_goal=is_accepted
    )
    clients += [node.create_action_client(fibonacci, "left") for _ in range(2)]
    with feros.Executor() as executor:
        executor.add_node(server)
        assert all(client.wait_for_server(60) for client in clients)
        clients[0].send_goal(fibonacci.Goal(order=0))
        assert executor.spin_until(lambda: len(asked) == 1, 60)
    context.spin_in_background(server)
    goal = clients[1].send_goal(fibonacci.Goal(order=1)).wait(60)
    assert goal.result().wait(60)[0].name == "SUCCEEDED"
    assert asked == [0, 1]


def test_services_announce_the_hash_of_their_type(context):
    """Engines other than DDS use the hash to decide whether endpoints match."""
    node = context.create_node("hashes")
    goal = get_interface("example_interfaces/action/Fibonacci").Impl.SendGoalService
    for cls, name in [(SetBool, "std_srvs/srv/SetBool"),
                      (goal, "example_interfaces/action/Fibonacci_SendGoal")]:
        server = node.create_service(cls, "hashed", lambda request: None)
        client = node.create_client(cls, "hashed")
        assert server.type_hash == client.type_hash == type_hash(name)


def test_an_executor_ends_futures(context):
    node = context.create_node("both")
    node.create_service(SetBool, "both", lambda request: SetBool.Response(message="yes"))
    client = node.create_client(SetBool, "both")
    assert client.wait_for_service(60)
    future = client.call_async(SetBool.Request())
    assert feros.spin_until_complete(node, future, 60).message == "yes"


def test_a_call_without_a_server_fails_and_says_what_to_do(context):
    node = context.create_node("early")
    client = node.create_client(SetBool, "nobody")
    for call in (client.call, client.call_async):
        with pytest.raises(feros.CallFailed, match="/nobody has no server.*`wait_for_service`"):
            call(SetBool.Request())
    fibonacci = get_interface("example_interfaces/action/Fibonacci")
    action = node.create_action_client(fibonacci, "nobody")
    with pytest.raises(feros.CallFailed, match="/nobody has no server.*`wait_for_server`"):
        action.send_goal(fibonacci.Goal())
    assert not client.wait_for_service(0.01) and not action.wait_for_server(0.01)


def test_a_wait_that_ends_names_its_time_limit(context):
    publisher = context.create_node("alone").create_publisher(String, "chatter")
    # The wait is made of shorter waits.
    with pytest.raises(TimeoutError, match=r"did not appear within 0\.25 s; is it running"):
        publisher.wait_for_subscriptions(1, 0.25)
    with pytest.raises(TimeoutError, match="did not appear at once; is it running"):
        publisher.wait_for_subscriptions(1, 0)
    with pytest.raises(TimeoutError, match="did not appear within 10 ms; is it running"):
        asyncio.run(publisher.wait_for_subscriptions_async(1, 0.01))


def test_late_servers_and_peers_are_awaited(context, start):
    node = context.create_node("early")
    client = node.create_client(SetBool, "enable")
    publisher = node.create_publisher(String, "chatter")
    subscription = node.create_subscription(String, "chatter", lambda _: None)
    nobody = node.create_client(SetBool, "nobody")

    async def main():
        assert not await nobody.wait_for_service_async(0.01)
        with pytest.raises(TimeoutError, match="2 publishers of /chatter.*`feros doctor`"):
            await subscription.wait_for_publishers_async(2, 0.01)
        waiting = [
            asyncio.create_task(awaited) for awaited in (
                client.wait_for_service_async(60),
                publisher.wait_for_subscriptions_async(2, 60),
                subscription.wait_for_publishers_async(2, 60),
            )
        ]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        start("book.py")
        assert await asyncio.gather(*waiting) == [True, None, None]
        assert (await client.call(SetBool.Request())).message == "enabled"
        ended = asyncio.create_task(nobody.wait_for_service_async())
        await asyncio.sleep(0)
        context.shutdown()
        with pytest.raises(feros.ShutdownError, match="a server of /nobody"):
            await ended

    asyncio.run(main())


def test_messages_published_after_an_asynchronous_wait_arrive(context, start, eventually):
    start("echo.py").hear()
    node = context.create_node("seldom")
    heard = []
    subscription = node.create_subscription(String, "back", lambda m: heard.append(m.data), 100)
    publishers = []

    async def main():
        await subscription.wait_for_publishers_async(1, 60)
        for text in texts(20):
            # The other process must discover each publisher before it can receive the publisher's
            # best-effort messages.
            publisher = node.create_publisher(String, "seldom", 10)
            publishers.append(publisher)
            await publisher.wait_for_subscriptions_async(1, 60)
            publisher.publish(String(data=text))

    asyncio.run(main())
    with feros.Executor() as executor:
        executor.add_node(node)
        eventually(lambda: len(heard) == 20, lambda: executor.spin_once(0.1))
    assert sorted(heard) == sorted(texts(20))


def test_a_blocking_call_that_nobody_could_answer_says_why(context):
    node = context.create_node("stuck")
    node.create_service(SetBool, "stuck", lambda request: SetBool.Response())
    client = node.create_client(SetBool, "stuck")
    assert client.wait_for_service(60)
    node.create_wall_timer(0.001, lambda: client.call(SetBool.Request()).wait(60))
    with pytest.raises(feros.CallFailed, match="cannot respond"):
        feros.spin(node)


def test_parameters(context):
    node = context.create_node("parametrized", parameter_overrides={"gain": 2.5})
    parameters = node.parameters
    assert parameters.declare("gain", 1.0, description="of the loop") == 2.5
    assert parameters.declare("names", ["a", "b"]) == ["a", "b"]
    assert parameters.declare("rate", 10, integer_range=(1, 100, 0)) == 10
    parameters["gain"] = 3.0
    assert parameters["gain"] == 3.0 and "gain" in parameters
    with pytest.raises(feros.ParameterError):
        parameters["rate"] = 1000
    with pytest.raises(feros.ParameterError):
        parameters["rate"] = "fast"
    with pytest.raises(feros.ParameterError, match="gain"):
        parameters.declare("gain", 1.0)
    handle = parameters.on_set(lambda values: "no" if "gain" in values else None)
    with pytest.raises(feros.ParameterError, match="no"):
        parameters["gain"] = 4.0
    handle.remove()
    parameters["gain"] = 4.0
    assert parameters.describe("gain")[0]["description"] == "of the loop"


def test_actions(context):
    fibonacci = get_interface("example_interfaces/action/Fibonacci")
    server, client = context.create_node("server"), context.create_node("client")

    def execute(goal):
        if goal.request.order < 0:
            raise ValueError("negative")
        goal.publish_feedback(fibonacci.Feedback(sequence=[0, 1]))
        while goal.request.order == 0:
            if goal.is_cancel_requested:
                goal.canceled()
                return None
        return fibonacci.Result(sequence=[0, 1, 1, 2, 3][:goal.request.order])

    server.create_action_server(
        fibonacci, "fibonacci", execute, on_goal=lambda goal: goal.order < 100
    )
    context.spin_in_background(server)
    action = client.create_action_client(fibonacci, "fibonacci")
    context.spin_in_background(client)
    assert action.wait_for_server(60)
    heard = threading.Event()
    goal = action.send_goal(fibonacci.Goal(order=4), lambda feedback: heard.set()).wait(60)
    status, result = goal.result().wait(60)
    assert (status.name, list(result.sequence)) == ("SUCCEEDED", [0, 1, 1, 2])
    assert heard.wait(60)
    with pytest.raises(feros.FerosError, match="rejected"):
        action.send_goal(fibonacci.Goal(order=100)).wait(60)
    goal = action.send_goal(fibonacci.Goal(order=0)).wait(60)
    assert goal.cancel().wait(60)
    assert goal.result().wait(60)[0].name == "CANCELED"
    goal = action.send_goal(fibonacci.Goal(order=-1)).wait(60)
    assert goal.result().wait(60)[0].name == "ABORTED"


def test_statuses_that_replace_each_other_are_no_lost_messages(context, capfd):
    fibonacci = get_interface("example_interfaces/action/Fibonacci")
    server, client = context.create_node("server"), context.create_node("client")
    server.create_action_server(fibonacci, "quick", lambda goal: fibonacci.Result())
    context.spin_in_background(server)
    action = client.create_action_client(fibonacci, "quick")
    assert action.wait_for_server(60)
    for _ in range(20):
        action.send_goal(fibonacci.Goal()).wait(60).result().wait(60)
    with feros.Executor() as executor:
        executor.add_node(client)
        while executor.spin_once(0):
            pass
    assert "lost" not in capfd.readouterr().err


def test_feedback_that_comes_behind_the_result_is_heard(context):
    fibonacci = get_interface("example_interfaces/action/Fibonacci")
    server, client = context.create_node("server"), context.create_node("client")

    def execute(goal):
        goal.publish_feedback(fibonacci.Feedback(sequence=[7]))
        return fibonacci.Result()

    server.create_action_server(fibonacci, "late", execute)
    context.spin_in_background(server)
    action = client.create_action_client(fibonacci, "late")
    assert action.wait_for_server(60)
    heard = []
    goal = action.send_goal(fibonacci.Goal(), heard.append).wait(60)
    assert goal.result().wait(60)[0].name == "SUCCEEDED"
    with feros.Executor() as executor:
        executor.add_node(client)
        assert executor.spin_until(lambda: heard, 60)
    assert list(heard[0].sequence) == [7]


def test_asyncio(context):
    node = context.create_node("async")

    async def main():
        publisher = node.create_publisher(String, "stream", 100)
        stream = node.subscribe(String, "stream", 100)
        node.create_service(SetBool, "async", lambda request: SetBool.Response(message="yes"))
        client = node.create_client(SetBool, "async")
        await asyncio.to_thread(publisher.wait_for_subscriptions, 1, 60)
        for text in texts(20):
            publisher.publish(String(data=text))
        heard = []
        async for message in stream:
            heard.append(message.data)
            if len(heard) == 20:
                break
        assert heard == texts(20)
        assert await asyncio.to_thread(client.wait_for_service, 60)
        calls = [client.call(SetBool.Request()) for _ in range(10)]
        for response in await asyncio.gather(*[asyncio.ensure_future(wait(c)) for c in calls]):
            assert response.message == "yes"
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.next(), 0.05)

    async def wait(call):
        return await call

    asyncio.run(main())


def test_a_stream_ends_with_the_context():
    async def main():
        async with feros.Context([]) as context:
            stream = context.create_node("ending").subscribe(String, "nothing")
            asyncio.get_running_loop().call_later(0.05, context._context.shutdown)
            async for _ in stream:
                raise AssertionError("nobody publishes")

    asyncio.run(main())


def test_an_inbox_keeps_the_newest_and_counts_the_others(context, eventually):
    node = context.create_node("full")
    inbox = node.subscribe(String, "full", 100, depth=3)._inbox
    publisher = node.create_publisher(String, "full", 100)
    publisher.wait_for_subscriptions(1, 60)
    for text in texts(10):
        publisher.publish(String(data=text))
    eventually(lambda: inbox.dropped_messages == 7)
    assert [inbox.take()[0].data for _ in range(3)] == texts(10)[7:]
    assert inbox.take() is None


def test_images_of_another_process_are_views_and_are_pinned(context, start, eventually):
    peer = start("echo.py")
    peer.hear()
    node = context.create_node("viewer")
    heard = []
    subscription = node.create_subscription(Image, "images_back", heard.append, 50, max_pinned=3)
    publisher = node.create_publisher(Image, "images", 50)
    publisher.wait_for_subscriptions(1, 60)
    subscription.wait_for_publishers(1, 60)
    with feros.Executor() as executor:
        executor.add_node(node)
        for number in range(6):
            publisher.publish(Image(height=number, data=np.full(200_000, number, np.uint8)))
            eventually(lambda: len(heard) == number + 1, lambda: executor.spin_once(0.1))
    for number, image in enumerate(heard):
        assert image.height == number
        assert not image.data.flags.writeable
        assert (image.data == number).all()
    assert subscription.pinned_messages == 3
    assert subscription.copied_messages == 3
    kept = heard[0].data
    heard.clear()
    gc.collect()
    assert subscription.pinned_messages == 1
    subscription.destroy()
    assert (kept == 0).all(), "a pinned view outlives its subscription"


def test_a_loan_is_written_in_place(context, start, eventually):
    start("echo.py").hear()
    node = context.create_node("lender")
    heard = []
    node.create_subscription(Image, "images_back", heard.append, 5)
    publisher = node.create_publisher(Image, "images", 5)
    publisher.wait_for_subscriptions(1, 60)
    with feros.Executor() as executor:
        executor.add_node(node)

        def lend():
            loan = publisher.loan({"data": 100_000, "encoding": "mono8",
                                   "header": {"frame_id": "camera"}})
            loan.height, loan.header.stamp.sec = 100, 7
            loan.data[:] = np.arange(100_000, dtype=np.uint8)
            assert loan.publish(), "nobody held its arrays"
            executor.spin_once(0.1)

        eventually(lambda: heard, lend)
    image = heard[0]
    assert (image.height, image.header.stamp.sec, image.encoding) == (100, 7, "mono8")
    assert image.header.frame_id == "camera"
    assert (image.data == np.arange(100_000, dtype=np.uint8)).all()


def test_a_loan_is_over_when_it_is_published(context):
    publisher = context.create_node("lender").create_publisher(Image, "lent")
    loan = publisher.loan({"data": 10})
    held = loan.data
    held[:] = 1
    assert not loan.publish(), "copied, since its array is held"
    assert publisher.copied_loans == 1
    with pytest.raises(ValueError):
        held[0] = 2
    for use in (lambda: loan.data, loan.publish, lambda: setattr(loan, "height", 1)):
        with pytest.raises(feros.LoanError, match="published"):
            use()
    with pytest.raises(TypeError, match='has no field "dat"; it has header, height'):
        publisher.loan({"dat": 1})
    with pytest.raises(AttributeError, match="cannot be changed"):
        publisher.loan().encoding = "rgb8"
    with pytest.raises(TypeError):
        publisher.loan().height = -1


@pytest.mark.parametrize("number, ending", [
    (signal.SIGINT, "KeyboardInterrupt"), (signal.SIGKILL, None),
])
def test_signals_end_spinning(start, number, ending):
    peer = start("interrupted.py")
    peer.hear()
    peer.process.send_signal(number)
    if ending:
        assert peer.hear() == ending
        assert peer.process.wait(60) == 0
    else:
        assert peer.process.wait(60) == -number


def test_the_interpreter_ends_while_threads_run():
    program = """
import feros, threading, time
from feros.msgs.std_msgs.msg import String
context = feros.Context([])
node = context.create_node("ending")
publisher = node.create_publisher(String, "ending", 10)
node.create_subscription(String, "ending", lambda m: None, 10)
node.create_wall_timer(0.0001, lambda: publisher.publish(String(data="a")))
context.spin_in_background(node)
executor = feros.Executor(threads=3)
other = context.create_node("other")
other.create_wall_timer(0.0001, lambda: None)
executor.add_node(other)
threading.Thread(target=executor.spin, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")


def test_many_callbacks_leave_nothing_behind(context):
    node = context.create_node("steady")
    publisher = node.create_publisher(String, "steady", 10)
    count = [0]

    def hear(message):
        count[0] += 1
        publisher.publish(message)

    node.create_subscription(String, "steady", hear, 10)
    publisher.wait_for_subscriptions(1, 60)
    publisher.publish(String(data="round and round"))

    def memory():
        with open(f"/proc/{os.getpid()}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    with feros.Executor() as executor:
        executor.add_node(node)
        executor.spin_until(lambda: count[0] >= 20_000)
        before = memory()
        executor.spin_until(lambda: count[0] >= 120_000)
        assert memory() - before < 4 << 20, "100000 callbacks cost memory"


def test_topics_services_and_actions_with_stock(context, start, stock, eventually):
    peer = start("stock_node.py", python=stock)
    peer.hear()
    fibonacci = get_interface("test_msgs/action/Fibonacci")
    node = context.create_node("ours")
    heard = []
    node.create_subscription(String, "back", lambda m: heard.append(m.data), 100)
    publisher = node.create_publisher(String, "there", 100)
    node.create_service(SetBool, "our_service", lambda request: SetBool.Response(message="ours"))
    node.create_action_server(
        fibonacci, "our_action", lambda goal: fibonacci.Result(sequence=[goal.request.order])
    )
    context.spin_in_background(node)
    publisher.wait_for_subscriptions(1, 60)

    def talk():
        publisher.publish(String(data="hello"))
        threading.Event().wait(0.1)

    eventually(lambda: heard, talk)
    assert heard[0] == "hello"
    client = node.create_client(SetBool, "stock_service")
    assert client.wait_for_service(60)
    assert client.call(SetBool.Request(data=True)).wait(60).message == "stock"
    action = node.create_action_client(fibonacci, "stock_action")
    assert action.wait_for_server(60)
    goal = action.send_goal(fibonacci.Goal(order=9)).wait(60)
    status, result = goal.result().wait(60)
    assert (status.name, list(result.sequence)) == ("SUCCEEDED", [0, 1, 9])
    peer.say("call")
    assert peer.hear() == "False ours"
    peer.say("goal")
    assert peer.hear() == "True 4 [5]"


def test_a_child_of_the_process_is_told_to_begin_anew():
    program = """
import os, feros
from feros.msgs.std_msgs.msg import String
context = feros.Context([])
node = context.create_node("parent")
publisher = node.create_publisher(String, "forked")
node.create_subscription(String, "forked", print)
context.spin_in_background(node)
child = os.fork()
if child == 0:
    uses = (lambda: publisher.publish(String()), context.ok, lambda: node.name,
            lambda: feros.Context([]))
    for use in uses:
        try:
            use()
            os._exit(2)
        except feros.FerosError as error:
            assert "fork" in str(error)
    assert feros.deserialize(feros.serialize(String(data="a")), String).data == "a"
    raise SystemExit(0)
assert os.waitpid(child, 0)[1] == 0
publisher.publish(String())
"""
    # Python 3.12 and later warn about any fork while threads are running.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
