"""The description of a launch."""

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Text

from ._positions import is_method_of_ours
from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .actions import DeclareLaunchArgument
    from .launch_context import LaunchContext


class LaunchDescription(LaunchDescriptionEntity):
    """The entities of a launch, in their order."""

    def __init__(
        self,
        initial_entities: Optional[Iterable[LaunchDescriptionEntity]] = None,
        *,
        deprecated_reason: Optional[Text] = None,
    ) -> None:
        self.__entities: List[LaunchDescriptionEntity] = []
        self.__deprecated_reason = deprecated_reason
        if isinstance(initial_entities, LaunchDescriptionEntity):
            raise TypeError(
                f'LaunchDescription takes a list of actions: write `[{_name(initial_entities)}'
                '(...)]`')
        for entity in initial_entities or ():
            self.add_entity(entity)

    @property
    def entities(self) -> List[LaunchDescriptionEntity]:
        """The entities; the list may be changed."""
        return self.__entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Adds an entity at the end."""
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f'{entity!r:.80} of the type {_name(entity)} is no action'
                            + (': write `*` before the list' if _is_list(entity) else ''))
        self.__entities.append(entity)

    def add_action(self, action: LaunchDescriptionEntity) -> None:
        """Adds an action at the end."""
        self.add_entity(action)

    def visit(self, context: 'LaunchContext') -> Optional[List[LaunchDescriptionEntity]]:
        """Returns the entities."""
        return self.__entities

    def describe_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the entities."""
        return self.__entities

    def get_launch_arguments(
        self, conditional_inclusion: bool = False,
    ) -> List['DeclareLaunchArgument']:
        """Returns the declarations of arguments, without those of included files."""
        from .actions import DeclareLaunchArgument

        found: List[DeclareLaunchArgument] = []

        def search(entities: Iterable[LaunchDescriptionEntity], is_conditional: bool) -> None:
            for entity in entities:
                if isinstance(entity, DeclareLaunchArgument):
                    entity._conditionally_included = is_conditional
                    if all(entity.name != known.name for known in found):
                        found.append(entity)
                search(entity.describe_sub_entities(), is_conditional)
                for _, inner in entity.describe_conditional_sub_entities():
                    search(inner, True)

        search(self.__entities, conditional_inclusion)
        return found

    @property
    def deprecated(self) -> bool:
        """Whether the file is deprecated."""
        return self.__deprecated_reason is not None

    @property
    def deprecated_reason(self) -> Optional[Text]:
        """What to use instead of the file."""
        return self.__deprecated_reason

    def _feros_entities(self) -> List[Dict[str, Any]]:
        from . import _wire
        from .actions import LogWarning

        if not is_method_of_ours(type(self), 'visit'):
            return [_wire.called(self)]
        entities: List[LaunchDescriptionEntity] = list(self.__entities)
        if self.__deprecated_reason is not None:
            warning = LogWarning(
                msg=f'this launch description is deprecated: {self.__deprecated_reason}')
            warning._feros_at = self._feros_at
            entities.insert(0, warning)
        return _wire.entities(entities)


def _name(value: Any) -> str:
    return type(value).__name__


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))
