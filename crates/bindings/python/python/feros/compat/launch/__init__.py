"""Launch files in Python with the names of stock `launch`, which `feros launch` evaluates.

The classes hold what a launch file says; the command plans and runs it.
"""

# Where things are, here and in `launch_ros`:
#
# - A class with its data (`_feros_data`, `_feros_arguments`) is in a file of its group, such as
#   `actions`. The group's `__init__.py` exports it, names the module that stock has for it
#   (`provide`), and says what to write instead of names that are missing (`absent`).
# - Imports point one way: the context, the bases of all classes, substitutions, conditions,
#   actions, events, handlers. What several groups need is in a file beside the groups:
#   `_declarations`, `_shutdown`, `_text`.
# - Bases for what many classes have: `actions/_named`, `substitutions/_shapes`. Keywords of earlier
#   releases: `_missing`. What is accepted and not done: `_unsupported`.
# - Texts and conditions as data: `_wire`; lists of actions and reactions: `_entities`; parameters:
#   `launch_ros/_parameters`; events that functions get: `events/_received` of both packages.
# - Questions to the command: `_link`, `launch_context`. Its requests: `feros/_launch_host`.

from typing import Any

from . import actions, conditions, event_handlers, events, launch_description_sources
from . import substitutions
from ._missing import absent
from .action import Action
from .condition import Condition
from .event import Event
from .event_handler import EventHandler
from .invalid_launch_file_error import InvalidLaunchFileError
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity
from .launch_description_source import LaunchDescriptionSource
from .some_entities_type import SomeEntitiesType, SomeEntitiesType_types_tuple
from .some_substitutions_type import SomeSubstitutionsType, SomeSubstitutionsType_types_tuple
from .substitution import Substitution

__all__ = [
    'Action', 'Condition', 'Event', 'EventHandler', 'InvalidLaunchFileError', 'LaunchContext',
    'LaunchDescription', 'LaunchDescriptionEntity', 'LaunchDescriptionSource',
    'SomeEntitiesType', 'SomeEntitiesType_types_tuple', 'SomeSubstitutionsType',
    'SomeSubstitutionsType_types_tuple', 'Substitution', 'actions', 'conditions',
    'event_handlers', 'events', 'launch_description_sources', 'substitutions',
]

_LATER = {
    'LaunchIntrospector': 'launch_introspector',
    'LaunchService': 'launch_service',
    'descriptions': '',
    'frontend': '',
    'launch_introspector': '',
    'launch_service': '',
    'logging': '',
    'utilities': '',
}
"""The names that are imported only when a program uses them, with their modules."""

_absent = absent(__name__, globals(), {
    **{name: 'import it from `launch.actions`' for name in actions.__all__},
    **{name: 'import it from `launch.substitutions`' for name in substitutions.__all__},
    **{name: 'import it from `launch.conditions`' for name in conditions.__all__},
})


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        return _absent(name)
    import importlib

    found = importlib.import_module(f'{__name__}.{module or name}')
    return getattr(found, name) if module else found
