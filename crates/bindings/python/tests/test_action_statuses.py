"""The statuses of many goals: how much is published about them, and what that shows."""

import os

import pytest

import feros
from feros.interfaces import get_interface


class Statuses:
    """The messages of an action's status topic."""

    def __init__(self, context, action):
        array = get_interface("action_msgs/msg/GoalStatusArray")
        self.count, self.last, self.of_goals, self.went_back = 0, [], {}, False
        self.node = context.create_node("listener")
        self.subscription = self.node.create_subscription(
            array, f"{action}/_action/status", self._note, 10_000)
        context.spin_in_background(self.node)

    def _note(self, message):
        self.last = [one.status for one in message.status_list]
        self.count += len(self.last)
        for one in message.status_list:
            goal = bytes(one.goal_info.goal_id.uuid)
            self.went_back |= one.status < self.of_goals.get(goal, 0)
            self.of_goals[goal] = one.status


def test_statuses_of_many_goals_do_not_cost_the_square_of_their_number(context, eventually):
    seen = Statuses(context, "many")
    array = get_interface("action_msgs/msg/GoalStatusArray")
    # Nobody spins this node, so no timer publishes.
    publisher = context.create_node("server").create_publisher(
        array, "many/_action/status", feros.QoSProfile.latched())
    publisher.wait_for_subscriptions(1, 60)
    goals = publisher._inner.goal_statuses()
    ids = [number.to_bytes(16, "big") for number in range(1000)]
    for goal in ids:
        for status in (2, 4):
            goals.set(goal, (7, 0), status)
            goals.publish()
    eventually(lambda: seen.of_goals.get(ids[900]) == 4)
    goals.complete()
    eventually(lambda: seen.last == [4] * 1000)
    assert not seen.went_back
    # A message for each change would have had a million statuses in sum.
    assert seen.count <= 32 * 2000 + 1000
    for goal in ids[1:]:
        goals.forget(goal)
    goals.publish()
    eventually(lambda: seen.last == [4])
    with pytest.raises(ValueError, match="16 bytes, not 3"):
        goals.set(b"abc", (7, 0), 2)


def test_each_end_of_goals_that_nobody_waits_for_is_shown(context, eventually):
    fibonacci = get_interface("example_interfaces/action/Fibonacci")
    server, client = context.create_node("server"), context.create_node("client")
    made = server.create_action_server(
        fibonacci, "quick", lambda goal: fibonacci.Result(), max_goals=1000)
    seen = Statuses(context, "quick")
    seen.subscription.wait_for_publishers(1, 60)
    context.spin_in_background(server)
    action = client.create_action_client(fibonacci, "quick")
    assert action.wait_for_server(60)
    count = int(os.environ.get("FEROS_DROPPED_FUTURES", "200"))
    for _ in range(count):
        action.send_goal(fibonacci.Goal()).wait(60)
    eventually(lambda: list(seen.of_goals.values()) == [4] * count)
    assert not seen.went_back
    eventually(lambda: made._executing == 0)
    made.destroy()
    made.destroy()
