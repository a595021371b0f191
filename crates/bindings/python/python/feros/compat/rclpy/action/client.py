"""Action clients, made from services and topics of their node."""

import threading
import uuid
from collections import deque
from types import GenericAlias
from typing import Any, Callable, Deque, Dict, Optional, Tuple

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from unique_identifier_msgs.msg import UUID

from .. import _rclpy_pybind11 as _rclpy
from .._reexports import reexports
from ..executors import await_or_execute
from ..qos import QoSProfile, qos_profile_action_status_default, qos_profile_services_default
from ..task import Future
from ..waitable import NumberOfEntities

MOST_EARLY_FEEDBACK = 100
"""The limit on feedback messages of a goal that are stored until its server has answered."""


class ClientGoalHandle:
    """The client's handle of one goal."""

    __class_getitem__ = classmethod(GenericAlias)  # accepts any number of types

    def __init__(self, action_client: 'ActionClient', goal_id: UUID, goal_response: Any) -> None:
        self._client = action_client
        self._goal_id = goal_id
        self._response = goal_response
        self._status = GoalStatus.STATUS_UNKNOWN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClientGoalHandle) and self._goal_id == other._goal_id

    def __hash__(self) -> int:
        return hash(bytes(self._goal_id.uuid))

    def __repr__(self) -> str:
        return (
            f'ClientGoalHandle <id={list(self._goal_id.uuid)}, accepted={self.accepted},'
            f' status={self._status}>')

    goal_id = property(lambda self: self._goal_id, doc='Its id.')
    stamp = property(lambda self: self._response.stamp, doc='The time when the goal was accepted.')
    accepted = property(lambda self: self._response.accepted, doc='Whether the goal was accepted.')
    status = property(lambda self: self._status, doc='A number of `GoalStatus`.')

    def cancel_goal(self) -> CancelGoal.Response:
        """Asks the server to cancel the goal, and waits for the answer while another thread
        spins."""
        return _waited(self.cancel_goal_async())

    def cancel_goal_async(self) -> Future:
        """Asks the server to cancel the goal; the result of the future is the answer."""
        request = CancelGoal.Request(goal_info=GoalInfo(goal_id=self._goal_id))
        return self._client._cancel.call_async(request)

    def get_result(self) -> Any:
        """Blocks until the result arrives, while another thread spins."""
        return _waited(self.get_result_async())

    def get_result_async(self) -> Future:
        """Returns a future of the result, with a status."""
        request = self._client._action_type.Impl.GetResultService.Request(goal_id=self._goal_id)
        future = self._client._result.call_async(request)
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: Future) -> None:
        if future.done() and future.exception() is None:
            self._status = future.result().status
        self._client._forget(self._goal_id)


def _waited(future: Future) -> Any:
    event = threading.Event()
    future.add_done_callback(lambda _: event.set())
    event.wait()
    return future.result()


class ActionClient:
    """Sends goals of an action."""

    __class_getitem__ = classmethod(GenericAlias)  # accepts any number of types

    def __init__(
        self,
        node: Any,
        action_type: Any,
        action_name: str,
        *,
        callback_group: Any = None,
        goal_service_qos_profile: QoSProfile = qos_profile_services_default,
        result_service_qos_profile: QoSProfile = qos_profile_services_default,
        cancel_service_qos_profile: QoSProfile = qos_profile_services_default,
        feedback_sub_qos_profile: QoSProfile = QoSProfile(depth=10),
        status_sub_qos_profile: QoSProfile = qos_profile_action_status_default,
        enable_feedback_msg_optimization: bool = False,
    ) -> None:
        self._node = node
        self._action_type = action_type
        self._feedback_callbacks: Dict[bytes, Callable[[Any], None]] = {}
        self._goal_handles: Dict[bytes, ClientGoalHandle] = {}
        # Feedback that arrived before the answer to its goal, and the goals whose answers have
        # arrived since then. Early feedback is delivered like other feedback: in the callback
        # group, and before later feedback.
        self._early_feedback: Dict[bytes, Deque[Any]] = {}
        self._answered: Deque[bytes] = deque()
        self._early_lock = threading.Lock()
        self._early = node.create_guard_condition(self._deliver_early, callback_group)
        impl, hidden = action_type.Impl, f'{action_name}/_action'

        def client(kind: Any, name: str, qos: QoSProfile) -> Any:
            return node.create_client(
                kind, f'{hidden}/{name}', qos_profile=qos, callback_group=callback_group)

        self._send = client(impl.SendGoalService, 'send_goal', goal_service_qos_profile)
        self._cancel = client(CancelGoal, 'cancel_goal', cancel_service_qos_profile)
        self._result = client(impl.GetResultService, 'get_result', result_service_qos_profile)
        self._subscriptions = [
            node.create_subscription(
                impl.FeedbackMessage, f'{hidden}/feedback', self._on_feedback,
                feedback_sub_qos_profile, callback_group=callback_group),
            node.create_subscription(
                GoalStatusArray, f'{hidden}/status', self._on_status, status_sub_qos_profile,
                callback_group=callback_group),
        ]

    def _on_feedback(self, message: Any) -> Any:
        key = bytes(message.goal_id.uuid)
        with self._early_lock:
            early = self._early_feedback.get(key)
            if early is not None:
                early.append(message)
                return None
        callback = self._feedback_callbacks.get(key)
        return None if callback is None else callback(message)

    async def _deliver_early(self) -> None:
        while (early := self._next_early()) is not None:
            try:
                await await_or_execute(*early)
            except BaseException:
                self._early.trigger()  # the remaining feedback is still delivered
                raise

    def _next_early(self) -> Optional[Tuple[Callable[[Any], Any], Any]]:
        with self._early_lock:
            while self._answered:
                key = self._answered[0]
                waiting = self._early_feedback.get(key)
                callback = self._feedback_callbacks.get(key)
                if waiting and callback is not None:
                    return callback, waiting.popleft()
                self._early_feedback.pop(key, None)
                self._answered.popleft()
            return None

    def _on_status(self, message: GoalStatusArray) -> None:
        for status in message.status_list:
            handle = self._goal_handles.get(bytes(status.goal_info.goal_id.uuid))
            if handle is not None:
                handle._status = status.status

    def _forget(self, goal_id: UUID) -> None:
        key = bytes(goal_id.uuid)
        self._feedback_callbacks.pop(key, None)
        self._early_feedback.pop(key, None)
        self._goal_handles.pop(key, None)

    def send_goal(self, goal: Any, **kwargs: Any) -> Any:
        """Sends a goal and waits for its result, while another thread spins; `None` if the goal is
        rejected."""
        handle = _waited(self.send_goal_async(goal, **kwargs))
        return handle.get_result() if handle.accepted else None

    def send_goal_async(
        self,
        goal: Any,
        feedback_callback: Optional[Callable[[Any], None]] = None,
        goal_uuid: Optional[UUID] = None,
    ) -> Future:
        """Sends a goal; the result of the future is its `ClientGoalHandle`. Feedback is only
        delivered after that.

        Raises `TypeError` for a goal of another class.
        """
        if not isinstance(goal, self._action_type.Goal):
            raise TypeError(f'Expected {self._action_type.Goal}, got {type(goal)}')
        goal_id = UUID(uuid=list(uuid.uuid4().bytes)) if goal_uuid is None else goal_uuid
        request = self._action_type.Impl.SendGoalService.Request(goal_id=goal_id, goal=goal)
        key = bytes(goal_id.uuid)
        if feedback_callback is not None:
            self._feedback_callbacks[key] = feedback_callback
            self._early_feedback[key] = deque(maxlen=MOST_EARLY_FEEDBACK)
        future: Future = Future(executor=self._node._rclpy_executor())

        def answered(response: Future) -> None:
            if response.exception() is not None:
                self._forget(goal_id)
                future.set_exception(response.exception())
                return
            handle = ClientGoalHandle(self, goal_id, response.result())
            if handle.accepted:
                self._goal_handles[key] = handle
            else:
                self._forget(goal_id)
            future._set_executor(self._node._rclpy_executor())
            future.set_result(handle)
            with self._early_lock:
                if not self._early_feedback.get(key):
                    self._early_feedback.pop(key, None)
                    return
                self._answered.append(key)
            self._early.trigger()  # runs after the callbacks of the future

        self._send.call_async(request).add_done_callback(answered)
        return future

    def _all_ready(self) -> bool:
        return (
            all(one.service_is_ready() for one in (self._send, self._cancel, self._result))
            and all(one.get_publisher_count() for one in self._subscriptions))

    def server_is_ready(self) -> bool:
        """Returns whether there is a server."""
        return self._all_ready()

    def wait_for_server(self, timeout_sec: Optional[float] = None) -> bool:
        """Waits until there is a server; returns whether there is one.

        Raises `RCLError` if the context is shut down.
        """
        from .._native import extension

        limit = None if timeout_sec is None or timeout_sec < 0 else float(timeout_sec)
        try:
            self._node._rclpy_native.wait_for_graph(self._all_ready, limit, 'an action server')
        except TimeoutError:
            return False
        except extension.ShutdownError:
            pass
        return self._all_ready()

    def get_num_entities(self) -> NumberOfEntities:
        """Returns the number of entities that the client consists of."""
        return NumberOfEntities(len(self._subscriptions), num_clients=3)

    def configure_introspection(
        self, clock: Any, service_event_qos_profile: QoSProfile, introspection_state: Any
    ) -> None:
        """Like `Client.configure_introspection`, for the three service clients of the action
        client."""
        for client in (self._send, self._cancel, self._result):
            client.configure_introspection(clock, service_event_qos_profile, introspection_state)

    def destroy(self) -> None:
        """Ends the client."""
        for client in (self._send, self._cancel, self._result):
            self._node.destroy_client(client)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node.destroy_guard_condition(self._early)

    def __enter__(self) -> 'ActionClient':
        return self

    def __exit__(self, *_: Any) -> None:
        self.destroy()


__getattr__ = reexports(__name__)
