"""Registers actions and substitutions under the names that XML and YAML files use."""

from typing import Any, Callable, Dict, List, Optional, Text, TypeVar

from .._unsupported import NO_TAGS

Exposed = TypeVar('Exposed')

actions: Dict[str, Any] = {}
"""The actions of packages, by the names of their tags."""

substitutions: Dict[str, Any] = {}
"""The substitutions of packages, by their names."""


def expose_action(name: Text) -> Callable[[Exposed], Exposed]:
    """Registers a class or function that reads a tag."""
    return _exposing(actions, name)


def expose_substitution(name: Text) -> Callable[[Exposed], Exposed]:
    """Registers a class or function that reads a substitution."""
    return _exposing(substitutions, name)


def _exposing(known: Dict[str, Any], name: Text) -> Callable[[Exposed], Exposed]:
    def expose(exposed: Exposed) -> Exposed:
        known[name] = exposed
        return exposed

    return expose


class Entity:
    """A tag of a launch file."""

    @property
    def type_name(self) -> Text:
        """The name of the tag."""
        raise NotImplementedError(NO_TAGS.format('the tag'))

    @property
    def parent(self) -> Optional['Entity']:
        """The tag around this tag."""
        raise NotImplementedError(NO_TAGS.format('the tag around it'))

    @property
    def children(self) -> List['Entity']:
        """The tags within this tag."""
        raise NotImplementedError(NO_TAGS.format('the tags within it'))

    def get_attr(
        self, name: Text, *, data_type: Any = str, optional: bool = False,
        can_be_str: bool = True,
    ) -> Any:
        """Returns an attribute."""
        raise NotImplementedError(NO_TAGS.format(f'the attribute `{name}`'))

    def assert_entity_completely_parsed(self) -> None:
        """Checks that all attributes were read."""


class Parser:
    """Reads launch files."""

    def parse_action(self, entity: Entity) -> Any:
        """Reads an action."""
        raise NotImplementedError(NO_TAGS.format('the action'))

    def parse_substitution(self, value: Text) -> Any:
        """Reads a text with substitutions."""
        raise NotImplementedError(NO_TAGS.format(f'the text {value!r:.80}'))

    def parse_if_substitutions(self, value: Any) -> Any:
        """Reads a value that may have substitutions."""
        raise NotImplementedError(NO_TAGS.format(f'the value {value!r:.80}'))

    def parse_description(self, entity: Entity) -> Any:
        """Reads a launch description."""
        raise NotImplementedError(NO_TAGS.format('the description'))

    def escape_characters(self, value: Text) -> Text:
        """Removes the backslashes that make characters literal."""
        raise NotImplementedError(NO_TAGS.format(f'the text {value!r:.80}'))

    @classmethod
    def load(cls, file: Any) -> Any:
        """Reads a file."""
        raise NotImplementedError(
            '`feros launch` reads XML and YAML files itself: include the file with'
            ' `IncludeLaunchDescription(AnyLaunchDescriptionSource(path))`')
