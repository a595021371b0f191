"""Shows a launch description as text."""

from typing import Iterable, List, Text

from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity


class LaunchIntrospector:
    """Writes the entities of a launch description as lines; `feros launch --print` tells more."""

    def format_launch_description(self, launch_description: LaunchDescription) -> Text:
        """Returns the lines."""
        return '\n'.join([repr(launch_description), *_lines(launch_description.entities, 1)])


def _lines(entities: Iterable[LaunchDescriptionEntity], level: int) -> List[str]:
    found = []
    for entity in entities:
        found.append(f"{'    ' * level}{entity.describe()}")
        found.extend(_lines(entity.describe_sub_entities(), level + 1))
        for text, inner in entity.describe_conditional_sub_entities():
            found.append(f"{'    ' * (level + 1)}{text}")
            found.extend(_lines(inner, level + 2))
    return found
