"""The base of all that a launch description contains."""

from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Text, Tuple

from ._positions import Place, here

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """A part of a launch description."""

    _feros_at: Optional[Place]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        object.__setattr__(made, '_feros_at', here())
        return made

    def describe(self) -> Text:
        """Returns a text for people."""
        return repr(self)

    def describe_sub_entities(self) -> List['LaunchDescriptionEntity']:
        """Returns the entities within this entity."""
        return []

    def describe_conditional_sub_entities(
        self,
    ) -> List[Tuple[Text, Iterable['LaunchDescriptionEntity']]]:
        """Returns the entities that depend on a condition or an event, with a text for each."""
        return []

    def visit(self, context: 'LaunchContext') -> Optional[List['LaunchDescriptionEntity']]:
        """Performs the entity, and returns the entities that follow from it."""
        return None

    def get_asyncio_future(self) -> None:
        """Returns `None`: `feros launch` waits for processes, timers and reactions itself."""
        return None
