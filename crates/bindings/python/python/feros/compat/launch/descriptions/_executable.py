"""The process that an action starts."""

from typing import Any, Iterable, List, Mapping, Optional, Tuple

from .._text import normalize_to_list_of_substitutions, optional
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution


def words(some: Optional[Iterable[SomeSubstitutionsType]], name: str) -> List[List[Substitution]]:
    """Returns the words of a command line; a list within the list is one word."""
    if some is None:
        return []
    if isinstance(some, (str, bytes, dict, Substitution)) or not hasattr(some, '__iter__'):
        raise TypeError(
            f'`{name}` is {some!r:.80}: expected a list, of which each item is one word')
    return [normalize_to_list_of_substitutions(word) for word in some]


def variables(
    some: Optional[Mapping[Any, Any]], name: str,
) -> Optional[List[Tuple[List[Substitution], List[Substitution]]]]:
    """Returns the names and values of environment variables."""
    if some is None:
        return None
    if not hasattr(some, 'items'):
        raise TypeError(f'`{name}` is {some!r:.80}: expected a dict')
    return [
        (normalize_to_list_of_substitutions(key), normalize_to_list_of_substitutions(value))
        for key, value in some.items()]


class Executable:
    """A command line with its working directory and its environment."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: Optional[SomeSubstitutionsType] = None,
        name: Optional[SomeSubstitutionsType] = None,
        cwd: Optional[SomeSubstitutionsType] = None,
        env: Optional[Mapping[Any, Any]] = None,
        additional_env: Optional[Mapping[Any, Any]] = None,
        arguments: Optional[Iterable[SomeSubstitutionsType]] = None,
    ) -> None:
        self.__cmd = words(cmd, 'cmd')
        self.__prefix = optional(prefix)
        self.__name = optional(name)
        self.__cwd = optional(cwd)
        self.__env = variables(env, 'env')
        self.__additional_env = variables(additional_env, 'additional_env')
        self.__arguments = words(arguments, 'arguments')

    @property
    def cmd(self) -> List[List[Substitution]]:
        """The words of the command line; the list may be changed."""
        return self.__cmd

    @property
    def prefix(self) -> Optional[List[Substitution]]:
        """The command that starts the command, such as `gdb -ex run --args`."""
        return self.__prefix

    @property
    def name(self) -> Optional[List[Substitution]]:
        """The name of the process in the output."""
        return self.__name

    @property
    def cwd(self) -> Optional[List[Substitution]]:
        """The working directory."""
        return self.__cwd

    @property
    def env(self) -> Any:
        """The variables that replace the environment."""
        return self.__env

    @property
    def additional_env(self) -> Any:
        """The variables that are added to the environment."""
        return self.__additional_env

    @property
    def arguments(self) -> List[List[Substitution]]:
        """The words that follow the command line."""
        return self.__arguments
