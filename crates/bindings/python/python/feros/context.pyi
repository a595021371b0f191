from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from feros.lifecycle import LifecycleNode
from feros.node import Node

class Context:
    def __init__(
        self,
        args: Sequence[str] | None = None,
        *,
        domain_id: int | None = None,
        ros_distro: str | None = None,
    ) -> None: ...
    @property
    def remaining_arguments(self) -> list[str]: ...
    @property
    def domain_id(self) -> int: ...
    def ok(self) -> bool: ...
    def shutdown(self) -> None: ...
    def on_shutdown(self, callback: Callable[[], object]) -> None: ...
    def create_node(
        self,
        name: str,
        *,
        namespace: str = ...,
        arguments: Sequence[str] = ...,
        parameter_overrides: dict[str, Any] = ...,
        enable_rosout: bool = ...,
        use_global_arguments: bool = ...,
        use_sim_time: bool = ...,
        allow_undeclared_parameters: bool = ...,
        automatically_declare_parameters_from_overrides: bool = ...,
        start_parameter_services: bool = ...,
        enable_logger_service: bool = ...,
    ) -> Node: ...
    def create_lifecycle_node(self, name: str, **options: Any) -> LifecycleNode: ...
    def spin_in_background(self, node: Node) -> None: ...
    def __enter__(self) -> Context: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    async def __aenter__(self) -> Context: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
