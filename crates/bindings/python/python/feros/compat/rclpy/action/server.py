"""Action servers, made from services and topics of their node."""

import heapq
import inspect
import threading
from enum import Enum
from types import GenericAlias
from typing import Any, Callable, Dict, List, Optional, Tuple

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal

from .. import _rclpy_pybind11 as _rclpy
from .. import _unspun
from .._reexports import reexports
from .._native.errors import RCLError
from ..constants import S_TO_NS
from ..publisher import Publisher
from ..qos import QoSProfile, qos_profile_action_status_default, qos_profile_services_default
from ..service import Answer
from ..task import Future
from ..timer import Timer
from ..waitable import NumberOfEntities


class GoalResponse(Enum):
    """Whether a goal is accepted."""

    REJECT = 1
    ACCEPT = 2


class CancelResponse(Enum):
    """Whether a goal is to be canceled."""

    REJECT = 1
    ACCEPT = 2


_EXECUTING, _CANCELING = GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING
_ACCEPTED = GoalStatus.STATUS_ACCEPTED
_NEXT = {  # the states that can follow each state of a goal
    _ACCEPTED: (_EXECUTING, _CANCELING),
    _EXECUTING: (_CANCELING, GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED),
    _CANCELING: (
        GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED),
}


class _StatusPublisher(Publisher[Any]):
    """Publishes the statuses of a server's goals."""

    def __init__(self, publisher_impl: Any, *args: Any, **options: Any) -> None:
        super().__init__(publisher_impl, *args, **options)
        self._goals = publisher_impl.goal_statuses()

    def destroy(self) -> None:
        """Publishes the last statuses, and destroys the publisher."""
        if self._goals is not None:
            self._goals.complete()
        self._goals = None
        super().destroy()


class ServerGoalHandle:
    """The server's handle of one goal."""

    __class_getitem__ = classmethod(GenericAlias)  # accepts any number of types

    def __init__(
        self, action_server: 'ActionServer', goal_info: GoalInfo, goal_request: Any
    ) -> None:
        self._server = action_server
        self._info = goal_info
        self._goal = goal_request
        self._status = _ACCEPTED
        self._lock = threading.RLock()
        self._result: Future = Future()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServerGoalHandle) and self.goal_id == other.goal_id

    def __hash__(self) -> int:
        return hash(bytes(self.goal_id.uuid))

    request = property(lambda self: self._goal, doc='The goal message.')
    goal_id = property(lambda self: self._info.goal_id, doc='Its id.')
    status = property(lambda self: self._status, doc='A number of `GoalStatus`.')

    @property
    def is_active(self) -> bool:
        """Whether the goal has not ended."""
        return self._status in _NEXT

    @property
    def is_cancel_requested(self) -> bool:
        """Whether the goal is to be canceled."""
        return self._status == _CANCELING

    def _become(self, status: int) -> None:
        with self._lock:
            if status not in _NEXT.get(self._status, ()):
                raise RCLError(f'goal cannot go from state {self._status} to {status}')
            self._set(status)
        self._server._publish_status()

    def _set(self, status: int) -> None:
        # The handle is locked, so that the last status that the server notes is the latest.
        with self._lock:
            self._status = status
            self._server._note(self)

    def executing(self) -> None:
        """Marks the goal as executing, for code that does the work itself and then ends the goal
        with the result."""
        self._become(_EXECUTING)

    def execute(self, execute_callback: Optional[Callable[..., Any]] = None) -> None:
        """Starts executing the goal. If a request to cancel the goal has already been accepted, the
        state does not change."""
        if not self.is_cancel_requested:
            self._become(_EXECUTING)
        self._server._execute(self, execute_callback)

    def publish_feedback(self, feedback: Any) -> None:
        """Sends feedback to the client; raises `TypeError` for feedback of another class."""
        if not isinstance(feedback, self._server.action_type.Feedback):
            raise TypeError(f'Expected {self._server.action_type.Feedback}')
        message = self._server.action_type.Impl.FeedbackMessage(
            goal_id=self.goal_id, feedback=feedback)
        self._server._feedback.publish(message)

    def _end(self, status: int, result: Any) -> None:
        if result is not None and not isinstance(result, self._server.action_type.Result):
            raise TypeError(f'Expected {self._server.action_type.Result}, got {type(result)}')
        self._become(status)
        if result is not None:
            self._server._finish(self, result)

    def succeed(self, response: Any = None) -> None:
        """Ends the goal with success. Code outside of `execute_callback` passes the result here."""
        self._end(GoalStatus.STATUS_SUCCEEDED, response)

    def abort(self, response: Any = None) -> None:
        """Ends the goal without success. Code outside of `execute_callback` passes the result
        here."""
        self._end(GoalStatus.STATUS_ABORTED, response)

    def canceled(self, response: Any = None) -> None:
        """Ends the goal as canceled. Code outside of `execute_callback` passes the result here."""
        self._end(GoalStatus.STATUS_CANCELED, response)

    def destroy(self) -> None:
        """Does nothing."""


def default_handle_accepted_callback(goal_handle: ServerGoalHandle) -> None:
    """Starts executing the goal."""
    goal_handle.execute()


def default_goal_callback(goal_request: Any) -> GoalResponse:
    """Accepts the goal."""
    return GoalResponse.ACCEPT


def default_cancel_callback(cancel_request: Any) -> CancelResponse:
    """Rejects the cancellation."""
    return CancelResponse.REJECT


class ActionServer:
    """Accepts goals of an action and calls a callback for each."""

    __class_getitem__ = classmethod(GenericAlias)  # accepts any number of types

    def __init__(
        self,
        node: Any,
        action_type: Any,
        action_name: str,
        execute_callback: Optional[Callable[[ServerGoalHandle], Any]] = None,
        *,
        callback_group: Any = None,
        goal_callback: Callable[[Any], GoalResponse] = default_goal_callback,
        handle_accepted_callback: Callable[..., None] = default_handle_accepted_callback,
        cancel_callback: Callable[[Any], CancelResponse] = default_cancel_callback,
        goal_service_qos_profile: QoSProfile = qos_profile_services_default,
        result_service_qos_profile: QoSProfile = qos_profile_services_default,
        cancel_service_qos_profile: QoSProfile = qos_profile_services_default,
        feedback_pub_qos_profile: QoSProfile = QoSProfile(depth=10),
        status_pub_qos_profile: QoSProfile = qos_profile_action_status_default,
        result_timeout: int = 10,
    ) -> None:
        self._node = node
        self.action_type = action_type
        self._result_timeout = result_timeout
        self._goal_handles: Dict[bytes, ServerGoalHandle] = {}
        # When goals ended, on the node's clock: a heap.
        self._ended: List[Tuple[int, bytes]] = []
        self._lock = threading.RLock()
        self._execute_callback: Optional[Callable[..., Any]] = None
        if execute_callback is not None:
            self.register_execute_callback(execute_callback)
        elif handle_accepted_callback is default_handle_accepted_callback:
            raise TypeError('expected an execute_callback, or a handle_accepted_callback'
                            ' whose goals end in other code')
        self.register_goal_callback(goal_callback)
        self.register_handle_accepted_callback(handle_accepted_callback)
        self.register_cancel_callback(cancel_callback)
        impl, hidden = action_type.Impl, f'{action_name}/_action'
        self._feedback = node.create_publisher(
            impl.FeedbackMessage, f'{hidden}/feedback', feedback_pub_qos_profile)
        self._status = node.create_publisher(
            GoalStatusArray, f'{hidden}/status', status_pub_qos_profile,
            publisher_class=_StatusPublisher)
        self._services = [
            node.create_service(
                kind, f'{hidden}/{name}', answer, qos_profile=qos, callback_group=callback_group)
            for kind, name, answer, qos in (
                (impl.SendGoalService, 'send_goal', self._on_goal, goal_service_qos_profile),
                (CancelGoal, 'cancel_goal', self._on_cancel, cancel_service_qos_profile),
                (impl.GetResultService, 'get_result', self._on_result,
                 result_service_qos_profile),
            )
        ]

        clock = node.get_clock()
        self._expiry = Timer(
            self._expire_goals, callback_group or node.default_callback_group, S_TO_NS, clock,
            context=node.context, autostart=False, node=node._rclpy_living._rclpy_native)
        node._rclpy_keep('waitable', self._expiry)

    def register_execute_callback(self, execute_callback: Callable[..., Any]) -> None:
        """Sets the callback that executes goals."""
        if not callable(execute_callback):
            raise TypeError('Failed to register goal execution callback: not callable')
        self._execute_callback = execute_callback

    def register_goal_callback(self, goal_callback: Optional[Callable[..., Any]]) -> None:
        """Sets the callback that accepts or rejects goals."""
        self._goal_callback = goal_callback or default_goal_callback

    def register_handle_accepted_callback(
        self, handle_accepted_callback: Optional[Callable[..., None]]
    ) -> None:
        """Sets the callback for accepted goals."""
        self._accepted_callback = handle_accepted_callback or default_handle_accepted_callback

    def register_cancel_callback(self, cancel_callback: Optional[Callable[..., Any]]) -> None:
        """Sets the callback that decides whether a goal is canceled."""
        self._cancel_callback = cancel_callback or default_cancel_callback

    async def _called(self, callback: Callable[..., Any], argument: Any) -> Any:
        result = callback(argument)
        return await result if inspect.isawaitable(result) else result

    async def _on_goal(self, request: Any, response: Any) -> Any:
        key = bytes(request.goal_id.uuid)
        self._expire_goals()
        if key in self._goal_handles:
            response.accepted = False
            return response
        answer = await self._called(self._goal_callback, request.goal)
        response.accepted = answer == GoalResponse.ACCEPT
        if response.accepted:
            stamp = self._node.get_clock().now().to_msg()
            response.stamp = stamp
            info = GoalInfo(goal_id=request.goal_id, stamp=stamp)
            handle = ServerGoalHandle(self, info, request.goal)
            with self._lock:
                self._goal_handles[key] = handle
            handle._set(_ACCEPTED)
            self._publish_status()
            # The callback runs after the response is sent, so that the client knows the goal before
            # its first feedback arrives. It runs before the next goal is accepted or rejected.
            return Answer(response, lambda: self._called(self._accepted_callback, handle))
        return response

    def _execute(self, handle: ServerGoalHandle, callback: Optional[Callable[..., Any]]) -> None:
        work = callback or self._execute_callback
        if work is None:
            raise RuntimeError('the action server has no execute_callback')
        self._node.executor.create_task(self._work, work, handle)

    async def _work(self, callback: Callable[..., Any], handle: ServerGoalHandle) -> None:
        result = None
        try:
            result = await self._called(callback, handle)
        except Exception as error:  # the client's goal must end nevertheless
            self._node.get_logger().error(f'Error raised in execute callback: {error!r}')
        if handle.is_active:
            self._node.get_logger().warning(
                f'Goal state not set, assuming aborted. Goal ID: {handle.goal_id.uuid}')
            handle._set(GoalStatus.STATUS_ABORTED)
            self._publish_status()
        if not isinstance(result, self.action_type.Result):
            result = self.action_type.Result()
        self._finish(handle, result)

    def _finish(self, handle: ServerGoalHandle, result: Any) -> None:
        """Keeps the result of a goal that has ended, for `result_timeout` seconds."""
        if handle._result.done():
            return
        handle._result.set_result(result)
        if self._result_timeout < 0:
            return
        with self._lock:
            heapq.heappush(self._ended, (self._now(), bytes(handle.goal_id.uuid)))
        self._expect_expiry()

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _expect_expiry(self) -> None:
        """Sets the timer to the time when the oldest result expires."""
        with self._lock:
            if self._expiry._destroyed:
                return
            if not self._ended:
                self._expiry.cancel()
                return
            left = self._ended[0][0] + int(self._result_timeout * S_TO_NS) - self._now()
            self._expiry.timer_period_ns = max(left, 1)
            self._expiry.reset()

    def _expire_goals(self) -> None:
        """Forgets expired results."""
        with self._lock:
            limit = self._now() - int(self._result_timeout * S_TO_NS)
            while self._ended and self._ended[0][0] <= limit:
                _, key = heapq.heappop(self._ended)
                expired = self._goal_handles.pop(key, None)
                if expired is not None:
                    expired._status = GoalStatus.STATUS_UNKNOWN
                    if self._status._goals is not None:
                        self._status._goals.forget(key)
        self._expect_expiry()

    async def _on_result(self, request: Any, response: Any) -> Any:
        handle = self._goal_handles.get(bytes(request.goal_id.uuid))
        if handle is None:
            response.status = GoalStatus.STATUS_UNKNOWN
            return response
        response.result = await handle._result
        response.status = handle.status
        return response

    def _candidates(self, info: GoalInfo) -> list:
        def nanoseconds(stamp: Any) -> int:
            return stamp.sec * 1_000_000_000 + stamp.nanosec

        key, limit = bytes(info.goal_id.uuid), nanoseconds(info.stamp)
        with self._lock:
            goals = list(self._goal_handles.items())
        nobody = not any(key)
        return [
            handle for known, handle in goals
            if known == key or (nobody and not limit)
            or (limit and nanoseconds(handle._info.stamp) <= limit)
        ]

    async def _on_cancel(self, request: Any, response: Any) -> Any:
        found = self._candidates(request.goal_info)
        canceling = []
        for handle in found:
            if handle.status not in (_ACCEPTED, _EXECUTING):
                continue
            answer = await self._called(self._cancel_callback, handle)
            if answer == CancelResponse.ACCEPT and handle.is_active:
                handle._become(_CANCELING)
                canceling.append(handle._info)
        response.goals_canceling = canceling
        if any(request.goal_info.goal_id.uuid) and not canceling:
            response.return_code = (
                CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID if not found
                else CancelGoal.Response.ERROR_REJECTED if found[0].is_active
                else CancelGoal.Response.ERROR_GOAL_TERMINATED)
        return response

    def _note(self, handle: ServerGoalHandle) -> None:
        """Notes the status of a goal, for the next message."""
        stamp = handle._info.stamp
        self._status._living._goals.set(
            bytes(handle.goal_id.uuid), (stamp.sec, stamp.nanosec), handle.status)

    def _publish_status(self) -> None:
        """Publishes the statuses of all goals, at once or a little later."""
        self._status._living._goals.publish()
        if _unspun.is_anybody_listening:
            _unspun.deliver()

    def get_num_entities(self) -> NumberOfEntities:
        """Returns the numbers of entities as in stock rclpy: services, and a timer for old
        results."""
        return NumberOfEntities(num_timers=1, num_services=len(self._services))

    def configure_introspection(
        self, clock: Any, service_event_qos_profile: QoSProfile, introspection_state: Any
    ) -> None:
        """Like `Service.configure_introspection`, for the three services of the action server."""
        for service in self._services:
            service.configure_introspection(clock, service_event_qos_profile, introspection_state)

    def destroy(self) -> None:
        """Ends the server."""
        for service in self._services:
            self._node.destroy_service(service)
        self._node._rclpy_end('waitable', self._expiry)
        self._node.destroy_publisher(self._feedback)
        self._node.destroy_publisher(self._status)

    def __enter__(self) -> 'ActionServer':
        return self

    def __exit__(self, *_: Any) -> None:
        self.destroy()


__getattr__ = reexports(__name__)
