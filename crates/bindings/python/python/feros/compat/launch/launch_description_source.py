"""The base of all sources of launch descriptions."""

from typing import Any, Optional, Text

from . import _wire
from ._text import normalize_to_list_of_substitutions, perform_substitutions
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .some_substitutions_type import SomeSubstitutionsType


class LaunchDescriptionSource:
    """A launch description, or the file that has it."""

    _FEROS_LANGUAGE: Optional[str] = None

    def __init__(
        self,
        launch_description: Optional[LaunchDescription] = None,
        location: SomeSubstitutionsType = '<string>',
        method: str = 'unspecified mechanism from a script',
    ) -> None:
        if launch_description is not None and not isinstance(
                launch_description, LaunchDescription):
            raise TypeError(
                f'`launch_description` is {launch_description!r:.80}: expected LaunchDescription')
        self.__launch_description = launch_description
        self.__location = normalize_to_list_of_substitutions(location)
        self.__expanded_location: Optional[Text] = None
        self.__method = method

    @property
    def location(self) -> Text:
        """The path of the file; a text for people if it is not known yet."""
        if self.__expanded_location is not None:
            return self.__expanded_location
        return ' + '.join(
            part.text if hasattr(part, 'text') else part.describe() for part in self.__location)

    @property
    def method(self) -> str:
        """How the launch description is made."""
        return self.__method

    def try_get_launch_description_without_context(self) -> Optional[LaunchDescription]:
        """Returns the launch description, if no file has to be read for it."""
        return self.__launch_description

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Returns the launch description."""
        if self.__expanded_location is None:
            self.__expanded_location = perform_substitutions(context, self.__location)
        if self.__launch_description is None:
            self.__launch_description = self._get_launch_description(self.__expanded_location)
        return self.__launch_description

    def _get_launch_description(self, location: Text) -> Any:
        """Reads the launch description from a file."""
        raise RuntimeError('the source has neither a launch description nor a file')

    def _feros_location(self) -> Any:
        return _wire.template(self.__location)
