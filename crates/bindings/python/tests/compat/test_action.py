"""Actions of the package rclpy, with its own client and server and with those of stock ROS 2."""

import time

import pytest
import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.task import Future
from action_msgs.msg import GoalStatus, GoalStatusArray
from test_msgs.action import Fibonacci


def _result(node, client, goal, feedback=None):
    sent = client.send_goal_async(goal, feedback_callback=feedback)
    rclpy.spin_until_future_complete(node, sent, timeout_sec=60)
    result = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, result, timeout_sec=60)
    return result.result()


def test_a_goal_succeeds(node, spin_until):
    def execute(goal):
        goal.publish_feedback(Fibonacci.Feedback(sequence=[0, 1]))
        goal.succeed()
        return Fibonacci.Result(sequence=[goal.request.order])

    ActionServer(node, Fibonacci, "count", execute)
    client, told = ActionClient(node, Fibonacci, "count"), []
    assert client.wait_for_server(60.0)
    result = _result(node, client, Fibonacci.Goal(order=3), told.append)
    assert (result.status, list(result.result.sequence)) == (GoalStatus.STATUS_SUCCEEDED, [3])
    assert [list(one.feedback.sequence) for one in told] == [[0, 1]]


def test_statuses_that_replace_each_other_are_no_lost_messages(node, capfd):
    def execute(goal):
        goal.succeed()
        return Fibonacci.Result()

    ActionServer(node, Fibonacci, "quick", execute)
    client = ActionClient(node, Fibonacci, "quick")
    assert client.wait_for_server(60.0)
    for _ in range(20):
        assert _result(node, client, Fibonacci.Goal()).status == GoalStatus.STATUS_SUCCEEDED
    assert "lost" not in capfd.readouterr().err


def test_each_end_of_many_goals_is_shown(node, spin_until):
    def execute(goal):
        goal.succeed()
        return Fibonacci.Result()

    shown, went_back = {}, []

    def note(message):
        for one in message.status_list:
            goal = bytes(one.goal_info.goal_id.uuid)
            went_back.append(one.status < shown.get(goal, 0))
            shown[goal] = one.status

    server = ActionServer(node, Fibonacci, "many", execute)
    node.create_subscription(GoalStatusArray, "many/_action/status", note, 1000)
    client = ActionClient(node, Fibonacci, "many")
    assert client.wait_for_server(60.0)
    for _ in range(50):
        sent = client.send_goal_async(Fibonacci.Goal())
        rclpy.spin_until_future_complete(node, sent, timeout_sec=60)
    spin_until(lambda: list(shown.values()) == [GoalStatus.STATUS_SUCCEEDED] * 50)
    assert not any(went_back)
    server.destroy()


def test_a_goal_begins_between_two_spins(node, spin_until):
    waiting = []

    def execute(goal):
        goal.succeed()
        return Fibonacci.Result(sequence=[goal.request.order])

    ActionServer(node, Fibonacci, "later", execute, handle_accepted_callback=waiting.append)
    client = ActionClient(node, Fibonacci, "later")
    assert client.wait_for_server(60.0)
    sent = client.send_goal_async(Fibonacci.Goal(order=3))
    rclpy.spin_until_future_complete(node, sent, timeout_sec=60)
    spin_until(lambda: waiting)
    waiting[0].execute()  # no executor spins the node now
    result = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, result, timeout_sec=60)
    assert list(result.result().result.sequence) == [3]


def test_a_goal_is_canceled(node, spin_until):
    group, proceed = ReentrantCallbackGroup(), Future()

    async def execute(goal):
        await proceed
        assert goal.is_cancel_requested
        goal.canceled()
        return Fibonacci.Result()

    ActionServer(
        node, Fibonacci, "count", execute, callback_group=group,
        cancel_callback=lambda _: CancelResponse.ACCEPT)
    client = ActionClient(node, Fibonacci, "count", callback_group=group)
    assert client.wait_for_server(60.0)
    sent = client.send_goal_async(Fibonacci.Goal(order=3))
    rclpy.spin_until_future_complete(node, sent, timeout_sec=60)
    canceled = sent.result().cancel_goal_async()
    rclpy.spin_until_future_complete(node, canceled, timeout_sec=60)
    assert len(canceled.result().goals_canceling) == 1
    proceed.set_result(None)
    result = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, result, timeout_sec=60)
    assert result.result().status == GoalStatus.STATUS_CANCELED


def test_a_goal_for_stock(node, start, stock):
    start("stock_node.py", python=stock)
    client = ActionClient(node, Fibonacci, "stock_action")
    assert client.wait_for_server(60.0)
    result = _result(node, client, Fibonacci.Goal(order=7))
    assert (result.status, list(result.result.sequence)) == (
        GoalStatus.STATUS_SUCCEEDED, [0, 1, 7])


def test_a_result_is_forgotten_when_its_time_is_over(node, spin_until):
    taken = []

    def execute(goal):
        taken.append(goal)
        goal.succeed()
        return Fibonacci.Result()

    server = ActionServer(node, Fibonacci, "count", execute, result_timeout=0.2)
    client = ActionClient(node, Fibonacci, "count")
    assert client.wait_for_server(60.0)
    assert _result(node, client, Fibonacci.Goal()).status == GoalStatus.STATUS_SUCCEEDED
    assert taken[0].status == GoalStatus.STATUS_SUCCEEDED
    spin_until(lambda: taken[0].status == GoalStatus.STATUS_UNKNOWN)
    assert not taken[0].is_active and not server._goal_handles
    assert _result(node, client, Fibonacci.Goal()).status == GoalStatus.STATUS_SUCCEEDED
    server.destroy()
    client.destroy()


def test_a_goal_is_worked_for_elsewhere(node):
    taken = []

    def accepted(goal):
        goal.executing()
        taken.append(goal)

    server = ActionServer(node, Fibonacci, "count", handle_accepted_callback=accepted)
    client = ActionClient(node, Fibonacci, "count")
    assert client.wait_for_server(60.0)
    sent = client.send_goal_async(Fibonacci.Goal())
    rclpy.spin_until_future_complete(node, sent, timeout_sec=60)
    result = sent.result().get_result_async()
    while not taken:
        rclpy.spin_once(node, timeout_sec=0.1)
    with pytest.raises(TypeError, match="Expected"):
        taken[0].abort("no result")
    assert taken[0].status == GoalStatus.STATUS_EXECUTING
    taken[0].abort(Fibonacci.Result(sequence=[1, 2]))
    rclpy.spin_until_future_complete(node, result, timeout_sec=60)
    assert result.result().status == GoalStatus.STATUS_ABORTED
    assert list(result.result().result.sequence) == [1, 2]
    with pytest.raises(RuntimeError, match="no execute_callback"):
        server._execute(taken[0], None)
    with pytest.raises(TypeError, match="execute_callback"):
        ActionServer(node, Fibonacci, "other")


class _Answering:
    """A server that publishes feedback before and after its answer. The answer waits for
    `proceed`."""

    def __init__(self, node, name, early, late):
        impl, group = Fibonacci.Impl, ReentrantCallbackGroup()
        self.proceed = Future()
        self.feedback = node.create_publisher(impl.FeedbackMessage, f"{name}/_action/feedback", 10)

        async def answer(request, response):
            self._publish(request.goal_id, early)
            await self.proceed
            self._publish(request.goal_id, late)
            response.accepted = True
            return response

        node.create_publisher(impl.GoalStatusMessage, f"{name}/_action/status", 10)
        for kind, part, callback in (
            (impl.SendGoalService, "send_goal", answer),
            (impl.GetResultService, "get_result", lambda _, response: response),
            (impl.CancelGoalService, "cancel_goal", lambda _, response: response),
        ):
            node.create_service(kind, f"{name}/_action/{part}", callback, callback_group=group)

    def _publish(self, goal_id, numbers):
        for number in numbers:
            message = Fibonacci.Impl.FeedbackMessage(goal_id=goal_id)
            message.feedback.sequence = [number]
            self.feedback.publish(message)

    def is_matched(self, client):
        return client._send.service_is_ready() and self.feedback.get_subscription_count() == 1


def test_feedback_comes_after_the_answer_to_its_goal(node, spin_until):
    server = _Answering(node, "early", range(3), ())
    client, told = ActionClient(node, Fibonacci, "early"), []
    spin_until(lambda: server.is_matched(client))
    sent = client.send_goal_async(
        Fibonacci.Goal(), feedback_callback=lambda one: told.append(list(one.feedback.sequence)))
    sent.add_done_callback(lambda _: told.append("answered"))
    spin_until(lambda: len(next(iter(client._early_feedback.values()))) == 3)
    assert told == []
    server.proceed.set_result(None)
    spin_until(lambda: len(told) == 4)
    assert told == ["answered", [0], [1], [2]]
    assert not client._early_feedback and not client._answered


def test_feedback_before_the_answer_is_delivered_in_order_on_many_threads(node, eventually):
    server = _Answering(node, "early", range(5), range(5, 10))
    client, told, inside, most = ActionClient(node, Fibonacci, "early"), [], [], []
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)

    def spin_until(condition):
        eventually(condition, lambda: executor.spin_once(timeout_sec=0.1))

    async def heard(message):  # coroutine functions are allowed as well
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)  # gives other callbacks time to run, if they may
        told.append(message.feedback.sequence[0])
        inside.pop()

    try:
        spin_until(lambda: server.is_matched(client))
        client.send_goal_async(Fibonacci.Goal(), feedback_callback=heard)
        spin_until(lambda: len(next(iter(client._early_feedback.values()))) == 5)
        server.proceed.set_result(None)
        spin_until(lambda: len(told) == 10)
        assert told == list(range(10))
        assert set(most) == {1}, "its callback group lets in one at a time"
    finally:
        executor.shutdown()


def test_early_feedback_comes_though_a_callback_fails(node, spin_until):
    server = _Answering(node, "early", range(3), ())
    client, told = ActionClient(node, Fibonacci, "early"), []

    def heard(message):
        told.append(message.feedback.sequence[0])
        if len(told) == 1:
            raise ValueError("the first one")

    spin_until(lambda: server.is_matched(client))
    client.send_goal_async(Fibonacci.Goal(), feedback_callback=heard)
    spin_until(lambda: len(next(iter(client._early_feedback.values()))) == 3)
    server.proceed.set_result(None)
    with pytest.raises(ValueError, match="the first one"):
        spin_until(lambda: len(told) == 3)
    spin_until(lambda: len(told) == 3)
    assert told == [0, 1, 2]


def test_an_accepted_goal_is_handed_over_before_the_next_one_is_asked_about(node, eventually):
    told, inside, most = [], [], []

    def note(what):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)  # gives other callbacks time to run, if they may
        told.append(what)
        inside.pop()

    def ask(_):
        note("asked")
        return GoalResponse.ACCEPT

    ActionServer(
        node, Fibonacci, "in_turn", goal_callback=ask,
        handle_accepted_callback=lambda _: note("accepted"))
    client = ActionClient(node, Fibonacci, "in_turn", callback_group=ReentrantCallbackGroup())
    assert client.wait_for_server(60.0)
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    try:
        for _ in range(3):
            client.send_goal_async(Fibonacci.Goal())
        eventually(lambda: len(told) == 6, lambda: executor.spin_once(timeout_sec=0.1))
        assert told == ["asked", "accepted"] * 3
        assert set(most) == {1}, "its callback group lets in one at a time"
    finally:
        executor.shutdown()


def test_a_goal_without_a_server_waits_as_in_stock(node):
    client = ActionClient(node, Fibonacci, "nobody")
    sent = client.send_goal_async(Fibonacci.Goal())
    rclpy.spin_once(node, timeout_sec=0.05)
    assert not sent.done()


def test_feedback_overtakes_the_answer_on_the_same_executor_as_in_stock(node, eventually):
    """With plain clients and subscriptions, an executor runs subscriptions before clients."""
    impl, told = Fibonacci.Impl, []

    def execute(goal):
        goal.publish_feedback(Fibonacci.Feedback())
        goal.succeed()
        return Fibonacci.Result()

    client = node.create_client(impl.SendGoalService, "same/_action/send_goal")
    node.create_subscription(
        impl.FeedbackMessage, "same/_action/feedback", lambda _: told.append("feedback"), 1)
    server = ActionServer(node, Fibonacci, "same", execute)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    assert client.wait_for_service(60.0)
    eventually(lambda: server._feedback.get_subscription_count() == 1)
    # A new match makes the client ready, too. If that happens together with the request, the client
    # has its turn in the executor before the feedback exists. So the first round does not count.
    for number in range(4):
        request = impl.SendGoalService.Request()
        request.goal_id.uuid = [number] * 16
        sent = client.call_async(request)
        sent.add_done_callback(lambda _: told.append("answer"))
        executor.spin_until_future_complete(sent, timeout_sec=60)
        eventually(lambda: len(told) == 2 * (number + 1), lambda: executor.spin_once(0.1))
    assert told[2:] == ["feedback", "answer"] * 3
    executor.shutdown()
