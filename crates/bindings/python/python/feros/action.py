"""Actions: goals that take time, give feedback, end with a result, and can be canceled."""

import contextlib
import inspect
import threading
import time
import uuid
import weakref
from enum import IntEnum

from feros import _feros
from feros._gone import Gone
from feros._messages import message_class, service_class
from feros.endpoints import Publisher
from feros.qos import QoSProfile

CANCEL_ALL = bytes(16)


class GoalStatus(IntEnum):
    """The state of a goal."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6

    @property
    def is_terminal(self):
        """Whether the goal has ended."""
        return self >= GoalStatus.SUCCEEDED


# For each state, the states from which it can be reached, as in `rcl_action`.
_FOLLOWS = {
    GoalStatus.EXECUTING: (GoalStatus.ACCEPTED,),
    GoalStatus.CANCELING: (GoalStatus.ACCEPTED, GoalStatus.EXECUTING),
    GoalStatus.SUCCEEDED: (GoalStatus.EXECUTING, GoalStatus.CANCELING),
    GoalStatus.ABORTED: (GoalStatus.EXECUTING, GoalStatus.CANCELING),
    GoalStatus.CANCELED: (GoalStatus.CANCELING,),
}


class GoalRejected(_feros.FerosError):
    """The server rejected a goal."""


class GoalError(_feros.FerosError):
    """The operation is not possible in the goal's state."""


class ServerGoal:
    """A goal that a server has accepted."""

    def __init__(self, server, goal_id, request, stamp):
        self._server = server
        self._lock = threading.Lock()
        self._status = GoalStatus.ACCEPTED
        self._waiting = []
        self._result = None
        self._ended_at = None
        self.goal_id = goal_id
        self.request = request
        self.stamp = stamp

    @property
    def status(self):
        """The state of the goal."""
        return self._status

    @property
    def is_cancel_requested(self):
        """Whether a client has requested the cancellation of the goal."""
        return self._status == GoalStatus.CANCELING

    def publish_feedback(self, feedback):
        """Sends feedback to clients. Clients do not receive feedback that is sent after the end of
        the goal."""
        self._server._publish_feedback(self.goal_id, feedback)

    def succeed(self, result=None):
        """Ends the goal with success."""
        self._end(GoalStatus.SUCCEEDED, result)

    def abort(self, result=None):
        """Ends the goal without success."""
        self._end(GoalStatus.ABORTED, result)

    def canceled(self, result=None):
        """Ends the goal as canceled, after a client has requested the cancellation."""
        self._end(GoalStatus.CANCELED, result)

    def _change(self, status):
        with self._lock:
            if self._status not in _FOLLOWS[status]:
                return False
            self._status = status
            self._server._note(self)
            return True

    def _end(self, status, result):
        if result is None:
            result = self._server._cls.Result()
        if not self._change(status):
            raise GoalError(
                f"goal {self.goal_id.hex()} of {self._server.action_name} cannot become"
                f" {status.name}: it is {self._status.name}"
            )
        with self._lock:
            self._result = result
            self._ended_at = time.monotonic()
            waiting, self._waiting = self._waiting, []
        self._server._ended(self)
        for responder in waiting:
            self._server._send_result(responder, status, result)


class _StatusPublisher(Publisher):
    """Publishes the statuses of a server's goals."""

    def __init__(self, node, inner, cls):
        super().__init__(node, inner, cls)
        self.goals = inner.goal_statuses()

    def _end(self, why):
        goals, self.goals = self.goals, Gone(why)
        if not isinstance(goals, Gone):
            goals.complete()
        super()._end(why)


class ActionServer:
    """Answers goals of an action.

    `execute(goal)` gets each accepted `ServerGoal` on its own thread, and returns the result; it
    may be `async`. An exception aborts the goal, and is printed. If `execute` returns without
    calling `goal.canceled()`, the goal has succeeded, even if a client has requested its
    cancellation.

    `on_goal(request)` returns whether a goal is accepted, and `on_cancel(goal)` whether it may be
    canceled; without these functions every goal is accepted and may be canceled. At most
    `max_goals` goals execute at the same time; further goals are rejected. Results are stored for
    `result_timeout` seconds, for clients that request them late.
    """

    def __init__(
        self, node, cls, name, execute, *, on_goal=None, on_cancel=None, max_goals=64,
        result_timeout=10.0, callback_group=None,
    ):
        self._node, self._cls, self._execute = node, cls, execute
        self._on_goal, self._on_cancel = on_goal, on_cancel
        self._max_goals, self._result_timeout = max_goals, result_timeout
        self._goals = {}
        self._executing = 0
        self._lock = threading.Lock()
        self.action_name = node.resolve_topic_name(name)
        base = f"{self.action_name}/_action"
        impl = cls.Impl
        self._status = node._publisher(
            _StatusPublisher, impl.GoalStatusMessage, f"{base}/status", QoSProfile.latched()
        )
        self._feedback = node.create_publisher(impl.FeedbackMessage, f"{base}/feedback")
        self._expiry = node.create_wall_timer(1.0, self._expire)
        self._expiry.cancel()
        self._entities = [
            self._status,
            self._feedback,
            self._expiry,
            self._serve(impl.SendGoalService, f"{base}/send_goal", self._accept, callback_group),
            self._serve(
                impl.CancelGoalService, f"{base}/cancel_goal", self._cancel, callback_group
            ),
            self._serve(impl.GetResultService, f"{base}/get_result", self._result, callback_group),
        ]

    def _serve(self, cls, name, answer, group):
        return self._node.create_service(cls, name, answer, callback_group=group)

    def _accept(self, request, responder):
        response = self._cls.Impl.SendGoalService.Response()
        response.stamp = self._node.clock.now_message()
        goal_id = bytes(request.goal_id.uuid)
        with self._lock:
            is_free = goal_id not in self._goals and self._executing < self._max_goals
        if is_free and (self._on_goal is None or self._on_goal(request.goal)):
            goal = ServerGoal(self, goal_id, request.goal, response.stamp)
            with self._lock:
                self._goals[goal_id] = goal
                self._executing += 1
            response.accepted = True
            responder.answer(response)
            goal._change(GoalStatus.EXECUTING)
            self._publish_status()
            threading.Thread(
                target=self._run, args=(goal,), name=f"feros-goal-{goal_id.hex()[:6]}", daemon=True
            ).start()
        else:
            responder.answer(response)

    def _run(self, goal):
        try:
            result = self._execute(goal)
            if inspect.isawaitable(result):
                import asyncio

                async def awaited():
                    return await result

                result = asyncio.run(awaited())
            if not goal.status.is_terminal:
                goal.succeed(result)
        except BaseException as error:  # the thread ends here, but the goal must end too
            if not goal.status.is_terminal:
                goal.abort()
            if self._node._context.ok():
                import traceback

                traceback.print_exception(error)

    def _cancel(self, request):
        response = self._cls.Impl.CancelGoalService.Response()
        wanted = bytes(request.goal_info.goal_id.uuid)
        stamp = request.goal_info.stamp
        before = stamp.sec * 1_000_000_000 + stamp.nanosec
        with self._lock:
            goals = list(self._goals.values())
        if wanted != CANCEL_ALL and before == 0:
            goals = [goal for goal in goals if goal.goal_id == wanted]
            if not goals:
                response.return_code = response.ERROR_UNKNOWN_GOAL_ID
                return response
            if goals[0].status.is_terminal:
                response.return_code = response.ERROR_GOAL_TERMINATED
                return response
        elif before:
            goals = [
                goal for goal in goals
                if goal.goal_id == wanted
                or goal.stamp.sec * 1_000_000_000 + goal.stamp.nanosec <= before
            ]
        for goal in goals:
            if goal.status.is_terminal or (self._on_cancel and not self._on_cancel(goal)):
                continue
            if goal.is_cancel_requested or goal._change(GoalStatus.CANCELING):
                response.goals_canceling.append(self._info(goal))
        if response.goals_canceling:
            self._publish_status()
        else:
            response.return_code = response.ERROR_REJECTED
        return response

    def _result(self, request, responder):
        with self._lock:
            goal = self._goals.get(bytes(request.goal_id.uuid))
        if goal is None:
            self._send_result(responder, GoalStatus.UNKNOWN, self._cls.Result())
            return
        with goal._lock:
            if goal._ended_at is None:
                goal._waiting.append(responder)
                return
        self._send_result(responder, goal.status, goal._result)

    def _send_result(self, responder, status, result):
        response = self._cls.Impl.GetResultService.Response()
        response.status = int(status)
        response.result = result
        responder.answer(response)

    def _publish_feedback(self, goal_id, feedback):
        message = self._cls.Impl.FeedbackMessage()
        message.goal_id.uuid = list(goal_id)
        message.feedback = feedback
        self._feedback.publish(message)

    def _info(self, goal):
        info = message_class("action_msgs/msg/GoalInfo")()
        info.goal_id.uuid = list(goal.goal_id)
        info.stamp = goal.stamp
        return info

    def _note(self, goal):
        # The goal is locked, so that the last status that is set is the latest.
        with contextlib.suppress(_feros.FerosError):  # the server may have ended
            stamp = goal.stamp.sec, goal.stamp.nanosec
            self._status.goals.set(goal.goal_id, stamp, int(goal._status))

    def _publish_status(self):
        with contextlib.suppress(_feros.FerosError):  # the server may have ended
            self._status.goals.publish()

    def _ended(self, goal):
        with self._lock:
            self._executing -= 1
        self._publish_status()
        if self._expiry.is_canceled():
            self._expiry.reset()

    def _expire(self):
        oldest = time.monotonic() - self._result_timeout
        with self._lock:
            expired = [
                goal_id for goal_id, goal in self._goals.items()
                if goal._ended_at is not None and goal._ended_at <= oldest
            ]
            for goal_id in expired:
                del self._goals[goal_id]
                with contextlib.suppress(_feros.FerosError):  # the server may have ended
                    self._status.goals.forget(goal_id)
            is_idle = not any(goal._ended_at is not None for goal in self._goals.values())
        if is_idle:
            self._expiry.cancel()

    def destroy(self):
        """Ends the server. Unfinished goals are aborted, and their clients are notified."""
        with self._lock:
            goals = list(self._goals.values())
        for goal in goals:
            if not goal.status.is_terminal:
                goal._change(GoalStatus.EXECUTING)
                goal.abort()
        for entity in self._entities:
            entity.destroy()


class Pending:
    """An outcome that is not known yet: await it in asyncio, or block in `wait`."""

    __slots__ = ("_call", "_finish")

    def __init__(self, call, finish):
        self._call, self._finish = call, finish

    def wait(self, timeout=None):
        """Blocks until the outcome is known. Raises `TimeoutError` after `timeout` seconds; the
        caller may then wait again."""
        return self._finish(self._call.wait(timeout))

    def __await__(self):
        response = yield from self._call.__await__()
        return self._finish(response)


class ClientGoal:
    """A goal that a server has accepted."""

    def __init__(self, client, goal_id, stamp, on_feedback):
        self._client = client
        self._on_feedback = on_feedback
        self.goal_id = goal_id
        self.accepted_at = stamp
        self.status = GoalStatus.ACCEPTED

    def result(self):
        """Returns the final status and result, as `(GoalStatus, message)`: await it, or `wait` for
        it."""
        request = self._client._cls.Impl.GetResultService.Request()
        request.goal_id.uuid = list(self.goal_id)

        def finish(response):
            self.status = GoalStatus(response.status)
            return self.status, response.result

        return Pending(self._client._get_result.call(request), finish)

    def cancel(self):
        """Asks the server to cancel the goal. The outcome, which can be awaited or waited for, is
        whether the server accepts the request."""
        request = service_class("action_msgs/srv/CancelGoal").Request()
        request.goal_info.goal_id.uuid = list(self.goal_id)

        def finish(response):
            canceling = [bytes(info.goal_id.uuid) for info in response.goals_canceling]
            return self.goal_id in canceling

        return Pending(self._client._cancel.call(request), finish)


class ActionClient:
    """Sends goals of an action. Answers and results need no executor; feedback arrives on the
    executor that spins the node."""

    def __init__(self, node, cls, name):
        self._node, self._cls = node, cls
        # A goal stays here as long as the program holds its handle, since feedback may arrive after
        # the result.
        self._goals = weakref.WeakValueDictionary()
        self._lock = threading.Lock()
        self.action_name = node.resolve_topic_name(name)
        base = f"{self.action_name}/_action"
        impl = cls.Impl
        self._send_goal = node.create_client(impl.SendGoalService, f"{base}/send_goal")
        self._cancel = node.create_client(impl.CancelGoalService, f"{base}/cancel_goal")
        self._get_result = node.create_client(impl.GetResultService, f"{base}/get_result")
        self._feedback = node.create_subscription(
            impl.FeedbackMessage, f"{base}/feedback", self._deliver
        )
        # Each message has the statuses of all goals, so the last one is enough.
        self._statuses = node.create_subscription(
            impl.GoalStatusMessage, f"{base}/status", self._note, QoSProfile.latched(),
            log_lost_messages=False,
        )

    @property
    def _server(self):
        return f"a server of the action {self.action_name}"

    def _services_are_ready(self):
        clients = (self._send_goal, self._cancel, self._get_result)
        return all(client.service_is_ready() for client in clients)

    def server_is_ready(self):
        """Returns whether a server with all endpoints of the action is available."""
        return (
            self._services_are_ready()
            and self._feedback.publisher_count > 0
            and self._statuses.publisher_count > 0
        )

    def wait_for_server(self, timeout=None):
        """Waits at most `timeout` seconds for a server; returns whether a server is available."""
        return self._node._comes(self.server_is_ready, timeout, self._server)

    async def wait_for_server_async(self, timeout=None):
        """Like `wait_for_server`, in asyncio."""
        return await self._node._comes_async(self.server_is_ready, timeout, self._server)

    def send_goal(self, goal, on_feedback=None):
        """Sends a goal. The outcome, which can be awaited or waited for, is a `ClientGoal`. Calls
        `on_feedback(message)` for each feedback.

        Raises `CallFailed` if no server is ready: `wait_for_server` waits for one. Waiting raises
        `GoalRejected` if the server rejects the goal.
        """
        if not self._services_are_ready():
            raise _feros.CallFailed(
                f"the action {self.action_name} has no server that is ready for goals: start it,"
                " and wait for it with `wait_for_server`"
            )
        goal_id = uuid.uuid4().bytes
        request = self._cls.Impl.SendGoalService.Request()
        request.goal_id.uuid = list(goal_id)
        request.goal = goal
        handle = ClientGoal(self, goal_id, None, on_feedback)
        with self._lock:
            self._goals[goal_id] = handle  # before the request is sent: feedback may come first

        def finish(response):
            if not response.accepted:
                raise GoalRejected(f"the server of {self.action_name} rejected the goal")
            handle.accepted_at = response.stamp
            return handle

        return Pending(self._send_goal.call(request), finish)

    def _deliver(self, message):
        with self._lock:
            goal = self._goals.get(bytes(message.goal_id.uuid))
        if goal is not None and goal._on_feedback is not None:
            goal._on_feedback(message.feedback)

    def _note(self, message):
        for status in message.status_list:
            with self._lock:
                goal = self._goals.get(bytes(status.goal_info.goal_id.uuid))
            if goal is not None:
                goal.status = GoalStatus(status.status)

    def destroy(self):
        """Ends the client. Its goals continue."""
        for entity in (
            self._send_goal, self._cancel, self._get_result, self._feedback, self._statuses
        ):
            entity.destroy()
