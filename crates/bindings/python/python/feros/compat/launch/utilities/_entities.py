"""The forms in which entities are given."""

from typing import Iterable, List

from ..launch_description_entity import LaunchDescriptionEntity
from ..some_entities_type import SomeEntitiesType


def normalize_to_list_of_entities(
    entities: Iterable[SomeEntitiesType],
) -> List[LaunchDescriptionEntity]:
    """Returns the entities of a list, of which items may be lists."""
    found: List[LaunchDescriptionEntity] = []
    for entity in entities:
        found.extend([entity] if isinstance(entity, LaunchDescriptionEntity) else entity)
    return found
