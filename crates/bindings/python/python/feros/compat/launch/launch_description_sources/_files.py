"""Sources that are launch files."""

import sys
from types import ModuleType
from typing import Any, Optional, Text, Tuple

from ..actions._include import (
    AnyLaunchDescriptionSource,
    SourceOfCommand,
    get_launch_description_from_any_launch_file,
)
from ..invalid_launch_file_error import InvalidFrontendLaunchFileError, InvalidLaunchFileError
from ..launch_description import LaunchDescription
from ..launch_description_source import LaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType

__all__ = [
    'AnyLaunchDescriptionSource', 'FrontendLaunchDescriptionSource',
    'InvalidFrontendLaunchFileError', 'InvalidLaunchFileError', 'InvalidPythonLaunchFileError',
    'PythonLaunchDescriptionSource', 'get_launch_description_from_any_launch_file',
    'get_launch_description_from_frontend_launch_file',
    'get_launch_description_from_python_launch_file', 'load_python_launch_file_as_module',
]


class InvalidPythonLaunchFileError(Exception):
    """A file in Python is no launch file."""

    _feros_is_whole = True
    _feros_position: Optional[Tuple[str, int, int]] = None


def load_python_launch_file_as_module(python_launch_file_path: Text) -> ModuleType:
    """Runs a file, and returns it as a module."""
    with open(python_launch_file_path, 'rb') as file:
        source = file.read()
    code = compile(source, python_launch_file_path, 'exec', dont_inherit=True)
    module = ModuleType('python_launch_file')
    module.__file__ = python_launch_file_path
    # Some classes of the standard library look for the module of a class.
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    return module


def get_launch_description_from_python_launch_file(
    python_launch_file_path: Text,
) -> LaunchDescription:
    """Runs a file, and returns its launch description."""
    module = load_python_launch_file_as_module(python_launch_file_path)
    function = getattr(module, 'generate_launch_description', None)
    if function is None:
        raise _invalid(python_launch_file_path, 1, 'there is no `generate_launch_description()`')
    description = function()
    if not isinstance(description, LaunchDescription):
        missing = '; is there a `return`?' if description is None else ''
        code = getattr(function, '__code__', None)
        raise _invalid(
            python_launch_file_path, getattr(code, 'co_firstlineno', 1),
            f'`generate_launch_description()` returns {description!r:.80}: expected a'
            f' LaunchDescription{missing}')
    return description


def _invalid(path: Text, line: int, problem: str) -> InvalidPythonLaunchFileError:
    error = InvalidPythonLaunchFileError(problem)
    error._feros_position = path, line, 1
    return error


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A launch file in Python."""

    _FEROS_LANGUAGE = 'python'

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path, 'interpreted python launch file')

    def _get_launch_description(self, location: Text) -> LaunchDescription:
        return get_launch_description_from_python_launch_file(location)


class FrontendLaunchDescriptionSource(SourceOfCommand):
    """A launch file in XML or YAML."""

    def __init__(
        self,
        launch_file_path: SomeSubstitutionsType,
        *,
        method: str = 'interpreted frontend launch file',
        parser: Optional[Any] = None,
    ) -> None:
        super().__init__(None, launch_file_path, method)


def get_launch_description_from_frontend_launch_file(
    frontend_launch_file_path: Text, *, parser: Optional[Any] = None,
) -> LaunchDescription:
    """Returns a launch description that includes a file; `feros launch` reads the file."""
    return get_launch_description_from_any_launch_file(frontend_launch_file_path)
