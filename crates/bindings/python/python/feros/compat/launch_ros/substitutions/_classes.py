"""Substitutions on packages and parameters."""

from typing import Any, Iterable, List, Optional, Sequence, Text, Union

from launch import _link
from launch._positions import is_method_of_ours
from launch._text import (
    normalize_to_list_of_substitutions,
    perform_substitutions,
    some_or_str,
)
from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import KnownSubstitution, Substitution
from launch.substitutions._shapes import OfName


class FindPackage(KnownSubstitution):
    """A folder of a package; a derived class may define `find`."""

    _FEROS_KIND = 'find-pkg-prefix'
    _FEROS_ASKED = 'prefix'

    def __init__(self, package: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__package = normalize_to_list_of_substitutions(package)

    @property
    def package(self) -> List[Substitution]:
        """The name of the package."""
        return self.__package

    def find(self, package_name: Text) -> Text:
        """Returns the folder of a package.

        Raises `PackageNotFoundError` if there is no such package.
        """
        return str(_link.ask({'ask': self._FEROS_ASKED, 'package': package_name}))

    def perform(self, context: LaunchContext) -> Text:
        """Returns the folder of the package."""
        if is_method_of_ours(type(self), 'find'):
            return super().perform(context)
        return self.find(perform_substitutions(context, self.__package))

    def _feros_is_known(self) -> bool:
        return super()._feros_is_known() and is_method_of_ours(type(self), 'find')

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return [self.__package]


class FindPackagePrefix(FindPackage):
    """The prefix below which a package is installed."""


class FindPackageShare(FindPackage):
    """The folder with the files of a package."""

    _FEROS_KIND = 'find-pkg-share'
    _FEROS_ASKED = 'share'


class ExecutableInPackage(FindPackagePrefix):
    """The path of an executable of a package."""

    _FEROS_KIND = 'exec-in-pkg'

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        super().__init__(package)
        self.__executable = normalize_to_list_of_substitutions(executable)

    @property
    def executable(self) -> List[Substitution]:
        """The name of the executable."""
        return self.__executable

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return [self.__executable, self.package]


class Parameter(OfName):
    """The value that `SetParameter` has given a parameter."""

    _FEROS_KIND = 'param'

    def __init__(
        self,
        name: SomeSubstitutionsType,
        *,
        default: Optional[Union[Any, Iterable[Any]]] = None,
    ) -> None:
        super().__init__(
            normalize_to_list_of_substitutions(name),
            None if default is None else some_or_str(default))
