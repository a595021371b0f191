from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

from feros._aio import Stream
from feros._feros import CallbackGroup, MessageInfo
from feros._messages import ActionType, Message, ServiceType
from feros.action import ActionClient, ActionServer, ServerGoal
from feros.clock import Clock
from feros.context import Context
from feros.endpoints import (
    Client,
    GuardCondition,
    Parameters,
    Publisher,
    Responder,
    Service,
    Subscription,
    Timer,
)
from feros.logging import Logger
from feros.msgs.std_msgs.msg import Header
from feros.qos import QoSProfile

M = TypeVar("M", bound=Message)
Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)
G = TypeVar("G", bound=Message)
R = TypeVar("R", bound=Message)
F = TypeVar("F", bound=Message)
Event = Callable[[str, dict[str, Any]], object]

class Node:
    def __init__(self, name: str, *, context: Context, **options: Any) -> None: ...
    @property
    def context(self) -> Context: ...
    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def fully_qualified_name(self) -> str: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def parameters(self) -> Parameters: ...
    @property
    def logger(self) -> Logger: ...
    def now(self) -> int: ...
    def header(self, frame_id: str = "") -> Header: ...
    def create_publisher(
        self,
        cls: type[M],
        topic: str,
        qos: int | QoSProfile = 10,
        *,
        queue_depth: int | None = None,
        on_event: Event | None = None,
    ) -> Publisher[M]: ...
    @overload
    def create_subscription(
        self,
        cls: type[M],
        topic: str,
        callback: Callable[[M], object] | Callable[[M, MessageInfo], object],
        qos: int | QoSProfile = 10,
        *,
        raw: Literal[False] = False,
        views: bool = True,
        max_pinned: int = 8,
        callback_group: CallbackGroup | None = None,
        priority: int = 0,
        deadline: float | None = None,
        on_event: Event | None = None,
        ignore_local_publications: bool = False,
        log_lost_messages: bool = True,
    ) -> Subscription[M]: ...
    @overload
    def create_subscription(
        self,
        cls: type[M],
        topic: str,
        callback: Callable[[bytes], object] | Callable[[bytes, MessageInfo], object],
        qos: int | QoSProfile = 10,
        *,
        raw: Literal[True],
        views: bool = True,
        max_pinned: int = 8,
        callback_group: CallbackGroup | None = None,
        priority: int = 0,
        deadline: float | None = None,
        on_event: Event | None = None,
        ignore_local_publications: bool = False,
        log_lost_messages: bool = True,
    ) -> Subscription[M]: ...
    @overload
    def subscribe(
        self,
        cls: type[M],
        topic: str,
        qos: int | QoSProfile = 10,
        *,
        depth: int | None = None,
        raw: Literal[False] = False,
        views: bool = True,
        max_pinned: int = 8,
        with_info: Literal[False] = False,
    ) -> Stream[M]: ...
    @overload
    def subscribe(
        self,
        cls: type[M],
        topic: str,
        qos: int | QoSProfile = 10,
        *,
        depth: int | None = None,
        raw: bool = False,
        views: bool = True,
        max_pinned: int = 8,
        with_info: bool = False,
    ) -> Stream[Any]: ...
    def create_service(
        self,
        cls: type[ServiceType[Request, Response]],
        name: str,
        callback: Callable[[Request], Response]
        | Callable[[Request, Responder[Response]], object],
        qos: int | QoSProfile = 10,
        *,
        callback_group: CallbackGroup | None = None,
        priority: int = 0,
        deadline: float | None = None,
    ) -> Service: ...
    def create_client(
        self,
        cls: type[ServiceType[Request, Response]],
        name: str,
        qos: int | QoSProfile = 10,
    ) -> Client[Request, Response]: ...
    def create_timer(
        self,
        period: float,
        callback: Callable[[], object],
        *,
        clock: Clock | None = None,
        callback_group: CallbackGroup | None = None,
        priority: int = 0,
        deadline: float | None = None,
    ) -> Timer: ...
    def create_wall_timer(
        self,
        period: float,
        callback: Callable[[], object],
        *,
        callback_group: CallbackGroup | None = None,
        priority: int = 0,
        deadline: float | None = None,
    ) -> Timer: ...
    def create_guard_condition(self, callback: Callable[[], object]) -> GuardCondition: ...
    def create_callback_group(self, *, reentrant: bool = False) -> CallbackGroup: ...
    def create_action_server(
        self,
        cls: type[ActionType[G, R, F]],
        name: str,
        execute: Callable[[ServerGoal[G, R, F]], R | None | Awaitable[R | None]],
        *,
        on_goal: Callable[[G], bool] | None = None,
        on_cancel: Callable[[ServerGoal[G, R, F]], bool] | None = None,
        max_goals: int = 64,
        result_timeout: float = 10.0,
        callback_group: CallbackGroup | None = None,
    ) -> ActionServer[G, R, F]: ...
    def create_action_client(
        self, cls: type[ActionType[G, R, F]], name: str
    ) -> ActionClient[G, R, F]: ...
    def resolve_topic_name(self, name: str) -> str: ...
    def resolve_service_name(self, name: str) -> str: ...
    def node_names(self) -> list[tuple[str, str]]: ...
    def topic_names_and_types(self) -> dict[str, list[str]]: ...
    def service_names_and_types(self) -> dict[str, list[str]]: ...
    def action_names_and_types(self) -> dict[str, list[str]]: ...
    def publishers_info(self, topic: str) -> list[dict[str, Any]]: ...
    def subscriptions_info(self, topic: str) -> list[dict[str, Any]]: ...
    def wait_for_graph(
        self, condition: Callable[[], object], timeout: float | None = None, what: str = ...
    ) -> None: ...
    async def wait_for_graph_async(
        self, condition: Callable[[], object], timeout: float | None = None, what: str = ...
    ) -> None: ...
    def destroy(self) -> None: ...
    def __enter__(self) -> Node: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
