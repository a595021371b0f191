"""Substitutions that give paths."""

from typing import Iterable, List, Sequence

from .._text import normalize_to_list_of_substitutions, several
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import KnownSubstitution, Substitution
from ._shapes import OfName, OfTexts


class PathJoinSubstitution(KnownSubstitution):
    """Parts of a path, with slashes between them; `/` adds a part."""

    _FEROS_KIND = 'path-join'

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        super().__init__()
        self.__substitutions = several(substitutions)

    @property
    def substitutions(self) -> List[List[Substitution]]:
        """The parts of the path."""
        return self.__substitutions

    def __truediv__(self, additional_path: SomeSubstitutionsType) -> 'PathJoinSubstitution':
        return PathJoinSubstitution([*self.__substitutions, additional_path])

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return self.__substitutions


class PathSubstitution(PathJoinSubstitution):
    """A path that `/` continues, as with `pathlib.Path`."""

    def __init__(self, path: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(path))


class FindExecutable(OfName):
    """The path of a program of the environment's PATH."""

    _FEROS_KIND = 'find-exec'

    def __init__(self, *, name: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(name))


class FileContent(OfTexts):
    """The content of a file."""

    _FEROS_KIND = 'file-content'

    def __init__(self, path: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(path))

    @property
    def path(self) -> List[Substitution]:
        """The path of the file."""
        return self._feros_arguments()[0]


class ThisLaunchFile(KnownSubstitution):
    """The path of the launch file that is evaluated."""

    _FEROS_KIND = 'filename'


class ThisLaunchFileDir(KnownSubstitution):
    """The folder of the launch file that is evaluated."""

    _FEROS_KIND = 'dirname'


class LaunchLogDir(KnownSubstitution):
    """The folder with the logs of this launch."""

    _FEROS_KIND = 'launch_log_dir'
