"""The actions of a stock node.

Servers: action_server {name, type, result_timeout}: rejects goals with a negative order, does not cancel a goal of
order 13, and lets the others wait; goals {name, count} returns the received goals, feedback {name, id, values},
goal_status {name, id}, end {name, id, outcome, result}: outcome is succeed, abort, canceled, or raise.
Clients: action_client {name, type}, action_ready {name}, wait_for_action {name}, send_goal {name, goal}, cancel {name, id},
feedback_of {name, count}, result {name, id}, followed {name, id} returns the status that the client knows.
destroy_action {what, name}; what is server or client.
Introspection: introspect_action {what, name, state, qos} makes a client or server publish its events,
action_events {name, type, part, qos} listens to those of one service, where part is SendGoalService,
GetResultService or CancelGoalService, events_of {name, part, count} returns the received events.
"""
import threading

import conversion
import peer
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.service_introspection import ServiceIntrospectionState

OUTCOMES = ("succeed", "abort", "canceled", "raise")
SERVICES = {"SendGoalService": "send_goal", "GetResultService": "get_result", "CancelGoalService": "cancel_goal"}


def hexadecimal(goal_id):
    return bytes(goal_id.uuid).hex()


def wait_for(future, timeout=60.0):
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not done.wait(timeout):
        raise TimeoutError(f"not within {timeout} s")
    return future.result()


class Actions:
    """The operations of the node: each public method is an operation."""

    def __init__(self, node):
        self._node = node
        self._servers, self._clients, self._inboxes, self._goals, self._handles, self._feedback = {}, {}, {}, {}, {}, {}
        self._events, self._subscriptions = {}, []
        self._goal_accepted = threading.Condition()

    def action_server(self, name, type, result_timeout=10):
        inbox = self._inboxes[name] = peer.Inbox()

        def decide(goal):
            return GoalResponse.REJECT if goal.order < 0 else GoalResponse.ACCEPT

        def cancel(handle):
            return CancelResponse.REJECT if handle.request.order == 13 else CancelResponse.ACCEPT

        def accepted(handle):
            with self._goal_accepted:
                self._goals[hexadecimal(handle.goal_id)] = handle
                self._goal_accepted.notify_all()
            inbox.put({"id": hexadecimal(handle.goal_id), "goal": conversion.to_json(handle.request)})

        self._servers[name] = ActionServer(
            self._node, conversion.interface(type, "action"), name, lambda handle: None, goal_callback=decide,
            cancel_callback=cancel, handle_accepted_callback=accepted, result_timeout=result_timeout)

    def goals(self, name, count=1, timeout=60.0):
        return self._inboxes[name].take(count, timeout)

    def _goal(self, id, timeout=60.0):
        """Returns the handle of a goal: its client hears of the acceptance before the server has the handle."""
        with self._goal_accepted:
            if not self._goal_accepted.wait_for(lambda: id in self._goals, timeout):
                raise TimeoutError(f"goal {id} was not accepted within {timeout} s")
            return self._goals[id]

    def goal_status(self, name, id):
        return self._goal(id).status

    def feedback(self, name, id, values):
        for value in values:
            self._goal(id).publish_feedback(conversion.fill(self._servers[name].action_type.Feedback(), value))

    def end(self, name, id, outcome, result=None, timeout=60.0):
        if outcome not in OUTCOMES:
            raise ValueError(f"{outcome!r} is not one of {OUTCOMES}")
        ended = threading.Event()

        def execute(handle):
            try:
                if outcome == "raise":
                    raise RuntimeError("as wanted by the test")
                getattr(handle, outcome)()
                return conversion.fill(self._servers[name].action_type.Result(), result or {})
            finally:
                ended.set()

        self._goal(id, timeout).execute(execute)
        if not ended.wait(timeout):
            raise TimeoutError(f"not within {timeout} s")

    def action_client(self, name, type):
        self._clients[name] = ActionClient(self._node, conversion.interface(type, "action"), name)
        self._feedback[name] = peer.Inbox()

    def action_ready(self, name):
        return self._clients[name].server_is_ready()

    def wait_for_action(self, name, timeout=60.0):
        if not self._clients[name].wait_for_server(timeout):
            raise TimeoutError(f"not within {timeout} s")

    def send_goal(self, name, goal):
        client, inbox = self._clients[name], self._feedback[name]
        goal = conversion.fill(client._action_type.Goal(), goal)
        handle = wait_for(client.send_goal_async(goal, lambda message: inbox.put(conversion.to_json(message.feedback))))
        if not handle.accepted:
            return None
        id = hexadecimal(handle.goal_id)
        self._handles[id] = handle
        return id

    def feedback_of(self, name, count=1, timeout=60.0):
        return self._feedback[name].take(count, timeout)

    def cancel(self, name, id):
        response = wait_for(self._handles[id].cancel_goal_async())
        return {"code": response.return_code, "canceling": [hexadecimal(goal.goal_id) for goal in response.goals_canceling]}

    def followed(self, name, id):
        return self._handles[id].status

    def result(self, name, id):
        result = wait_for(self._handles[id].get_result_async())
        return {"status": result.status, "result": conversion.to_json(result.result)}

    def introspect_action(self, what, name, state, qos):
        getattr(self, f"_{what}s")[name].configure_introspection(
            self._node.get_clock(), peer.qos(qos), getattr(ServiceIntrospectionState, state.upper()))

    def action_events(self, name, type, part, qos):
        inbox = self._events[name, part] = peer.Inbox()
        event = getattr(conversion.interface(type, "action").Impl, part).Event
        topic = f"{name}/_action/{SERVICES[part]}/_service_event"
        self._subscriptions.append(self._node.create_subscription(
            event, topic, lambda message: inbox.put(conversion.to_json(message)), peer.qos(qos)))

    def events_of(self, name, part, count=1, timeout=60.0):
        return self._events[name, part].take(count, timeout)

    def destroy_action(self, what, name):
        getattr(self, f"_{what}s").pop(name).destroy()


def operations(node):
    actions = Actions(node)
    return {name: getattr(actions, name) for name in dir(actions) if not name.startswith("_")}
