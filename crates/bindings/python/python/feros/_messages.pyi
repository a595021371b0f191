from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from feros._feros import MessageType

Request = TypeVar("Request", bound="Message")
Response = TypeVar("Response", bound="Message")
Goal = TypeVar("Goal", bound="Message")
Result = TypeVar("Result", bound="Message")
Feedback = TypeVar("Feedback", bound="Message")
M = TypeVar("M", bound="Message")

class Message:
    __slots__: ClassVar[Any]
    SLOT_TYPES: ClassVar[tuple[Any, ...]]
    _feros_type: ClassVar[MessageType]
    _feros_name: ClassVar[str]
    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]: ...

class ServiceType(Generic[Request, Response]):
    _feros_name: ClassVar[str]

class ActionType(Generic[Goal, Result, Feedback]):
    _feros_name: ClassVar[str]

def message_class(name: str) -> type[Any]: ...
def service_class(name: str) -> type[Any]: ...
def action_class(name: str) -> type[Any]: ...
def interface_class(name: str) -> type[Any]: ...
def interfaces() -> Any: ...
def serialize(message: Message) -> bytes: ...
def deserialize(data: Any, cls: type[M]) -> M: ...
def namespace_module(
    module_name: str, package: str, namespace: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]: ...
