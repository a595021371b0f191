from collections.abc import Awaitable, Callable, Generator
from enum import IntEnum
from typing import Any, Generic, TypeVar

from feros._feros import CallbackGroup, FerosError
from feros._messages import ActionType, Message
from feros.node import Node

G = TypeVar("G", bound=Message)
R = TypeVar("R", bound=Message)
F = TypeVar("F", bound=Message)
T = TypeVar("T")

CANCEL_ALL: bytes

class GoalStatus(IntEnum):
    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6
    @property
    def is_terminal(self) -> bool: ...

class GoalRejected(FerosError): ...
class GoalError(FerosError): ...

class ServerGoal(Generic[G, R, F]):
    goal_id: bytes
    request: G
    @property
    def status(self) -> GoalStatus: ...
    @property
    def is_cancel_requested(self) -> bool: ...
    def publish_feedback(self, feedback: F) -> None: ...
    def succeed(self, result: R | None = None) -> None: ...
    def abort(self, result: R | None = None) -> None: ...
    def canceled(self, result: R | None = None) -> None: ...

class ActionServer(Generic[G, R, F]):
    action_name: str
    def __init__(
        self,
        node: Node,
        cls: type[ActionType[G, R, F]],
        name: str,
        execute: Callable[[ServerGoal[G, R, F]], R | None | Awaitable[R | None]],
        *,
        on_goal: Callable[[G], bool] | None = None,
        on_cancel: Callable[[ServerGoal[G, R, F]], bool] | None = None,
        max_goals: int = 64,
        result_timeout: float = 10.0,
        callback_group: CallbackGroup | None = None,
    ) -> None: ...
    def destroy(self) -> None: ...

class Pending(Generic[T]):
    def wait(self, timeout: float | None = None) -> T: ...
    def __await__(self) -> Generator[Any, None, T]: ...

class ClientGoal(Generic[R]):
    goal_id: bytes
    status: GoalStatus
    def result(self) -> Pending[tuple[GoalStatus, R]]: ...
    def cancel(self) -> Pending[bool]: ...

class ActionClient(Generic[G, R, F]):
    action_name: str
    def __init__(self, node: Node, cls: type[ActionType[G, R, F]], name: str) -> None: ...
    def server_is_ready(self) -> bool: ...
    def wait_for_server(self, timeout: float | None = None) -> bool: ...
    async def wait_for_server_async(self, timeout: float | None = None) -> bool: ...
    def send_goal(
        self, goal: G, on_feedback: Callable[[F], object] | None = None
    ) -> Pending[ClientGoal[R]]: ...
    def destroy(self) -> None: ...
