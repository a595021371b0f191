"""The action that includes a launch description, and the source of any launch file.

The action takes the path of a file as such a source, and such a source gives the action.
"""

from typing import Any, Dict, Iterable, List, Optional, Text, Tuple, Union

from .. import _wire
from .._entities import entities
from .._positions import is_method_of_ours
from .._text import normalize_to_list_of_substitutions
from ..action import KnownGroup
from ..launch_context import LaunchContext
from ..launch_description import LaunchDescription
from ..launch_description_entity import LaunchDescriptionEntity
from ..launch_description_source import LaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ._variables import SetLaunchConfiguration, normalized_pairs


class _Unfit(Substitution):
    """A value that is no text. It is an error when the include is visited, since public files have
    such values where the condition never holds."""

    def __init__(self, problem: str) -> None:
        self.__problem = problem

    def describe(self) -> str:
        """Returns the error."""
        return self.__problem

    def perform(self, context: LaunchContext) -> str:
        """Raises the error."""
        raise TypeError(self.__problem)


def _checked(pair: Any) -> Any:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        return pair
    name, value = pair
    try:
        return name, normalize_to_list_of_substitutions(value)
    except TypeError as error:
        return name, [_Unfit(f'the argument {name!r:.80}: {error}')]


class IncludeLaunchDescription(KnownGroup):
    """Includes a launch file, or a launch description."""

    def __init__(
        self,
        launch_description_source: Union[LaunchDescriptionSource, SomeSubstitutionsType],
        *,
        launch_arguments: Optional[
            Iterable[Tuple[SomeSubstitutionsType, SomeSubstitutionsType]]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            if isinstance(launch_description_source, LaunchDescriptionEntity):
                raise TypeError(
                    f'`IncludeLaunchDescription` gets a {type(launch_description_source).__name__}'
                    ': write `LaunchDescriptionSource(...)` around it, or use it as an action')
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self.__source = launch_description_source
        self.__launch_arguments = [] if launch_arguments is None else list(
            launch_arguments.items() if isinstance(launch_arguments, dict) else launch_arguments)
        self.__pairs = normalized_pairs(
            [_checked(pair) for pair in self.__launch_arguments], 'launch_arguments')

    @property
    def launch_description_source(self) -> LaunchDescriptionSource:
        """What is included."""
        return self.__source

    @property
    def launch_arguments(self) -> List[Tuple[Any, Any]]:
        """The names and values of the arguments."""
        return self.__launch_arguments

    def get_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the launch description, if it is no file."""
        description = self.__source.try_get_launch_description_without_context()
        return [] if description is None else [description]

    def __is_of_user(self) -> bool:
        """Whether a class of the user loads the launch description."""
        cls = type(self.__source)
        return not all(is_method_of_ours(cls, name) for name in (
            'get_launch_description', '_get_launch_description'))

    def _feros_is_known(self) -> bool:
        return super()._feros_is_known() and not self.__is_of_user()

    def execute(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Returns an entity that stands for the included one."""
        if not self.__is_of_user():
            return super().execute(context)
        description = self.__source.get_launch_description(context)
        return [
            *(SetLaunchConfiguration(name, value) for name, value in self.__pairs), description]

    def _feros_data(self) -> Dict[str, Any]:
        data: Dict[str, Any] = {
            'do': 'include', 'arguments': _wire.pairs(self.__pairs)}
        description = self.__source.try_get_launch_description_without_context()
        if description is not None:
            data['entities'] = entities(description)
        else:
            data['file'] = self.__source._feros_location()
            data['language'] = self.__source._FEROS_LANGUAGE
        return data


class SourceOfCommand(LaunchDescriptionSource):
    """A file that `feros launch` reads."""

    def _get_launch_description(self, location: Text) -> LaunchDescription:
        return get_launch_description_from_any_launch_file(location)


class AnyLaunchDescriptionSource(SourceOfCommand):
    """A launch file, whose name tells its language."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path, 'any launch file')


def get_launch_description_from_any_launch_file(
    launch_file_path: Text, *, parser: Optional[Any] = None,
) -> LaunchDescription:
    """Returns a launch description that includes a file; `feros launch` reads the file."""
    return LaunchDescription([IncludeLaunchDescription(launch_file_path)])
