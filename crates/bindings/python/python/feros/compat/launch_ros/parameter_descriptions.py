"""Parameters with a type, and files with parameters."""

import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Text, Tuple, Union

from launch import _wire
from launch._text import flag, normalize_to_list_of_substitutions, perform_substitutions
from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.utilities.type_utils import (
    normalize_typed_substitution,
    perform_typed_substitution,
    typed_data,
)

if TYPE_CHECKING:
    from pathlib import Path


class ParameterValue:
    """A value; with a type, the type that the text of substitutions gives."""

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.__value = normalize_typed_substitution(value, value_type)
        self.__value_type = value_type
        self.__evaluated: Any = None

    @property
    def value(self) -> Any:
        """The value."""
        return self.__value if self.__evaluated is None else self.__evaluated

    @property
    def value_type(self) -> Any:
        """The type."""
        return self.__value_type

    def __str__(self) -> Text:
        return f'ParameterValue(value={self.value}, value_type={self.__value_type})'

    def evaluate(self, context: LaunchContext) -> Any:
        """Returns the value that the text gives."""
        self.__evaluated = perform_typed_substitution(context, self.__value, self.__value_type)
        return self.__evaluated

    def _feros_data(self) -> Dict[str, Any]:
        return typed_data(self.__value, self.__value_type)


class Parameter:
    """A name with a value."""

    def __init__(
        self, name: SomeSubstitutionsType, value: Any, *, value_type: Any = None,
    ) -> None:
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = ParameterValue(value, value_type=value_type)
        self.__evaluated_name: Optional[Text] = None

    @property
    def name(self) -> Union[List[Substitution], Text]:
        """The name."""
        return self.__name if self.__evaluated_name is None else self.__evaluated_name

    @property
    def value(self) -> Any:
        """The value."""
        return self.__value.value

    @property
    def value_type(self) -> Any:
        """The type."""
        return self.__value.value_type

    def __str__(self) -> Text:
        return f'Parameter(name={self.name}, value={self.value}, value_type={self.value_type})'

    def evaluate(self, context: LaunchContext) -> Tuple[Text, Any]:
        """Returns the name and the value."""
        self.__evaluated_name = perform_substitutions(context, self.__name)
        return self.__evaluated_name, self.__value.evaluate(context)

    def _feros_source(self) -> Dict[str, Any]:
        return {'map': [[_wire.template(self.__name), self.__value._feros_data()]]}


class ParameterFile:
    """A file with parameters, which may have substitutions."""

    def __init__(
        self,
        param_file: SomeSubstitutionsType,
        *,
        allow_substs: Union[bool, SomeSubstitutionsType] = False,
    ) -> None:
        if isinstance(param_file, bytes):
            param_file = os.fsdecode(param_file)
        self.__param_file = normalize_to_list_of_substitutions(param_file)
        self.__allow_substs = flag(allow_substs)

    @property
    def param_file(self) -> List[Substitution]:
        """The path."""
        return self.__param_file

    @property
    def allow_substs(self) -> Any:
        """Whether the file may have substitutions."""
        return self.__allow_substs

    def __str__(self) -> Text:
        return f'ParameterFile(param_file={self.__param_file}, allow_substs={self.__allow_substs})'

    def evaluate(self, context: LaunchContext) -> 'Path':
        """Returns the path; `feros launch` evaluates the substitutions of the file itself."""
        from pathlib import Path

        if self.__allow_substs is not False:
            raise NotImplementedError(
                '`ParameterFile(..., allow_substs=True).evaluate` has no file to return: hand the'
                ' ParameterFile on in the `parameters` of a node')
        return Path(perform_substitutions(context, self.__param_file))

    def cleanup(self) -> None:
        """Does nothing, since there is no temporary file."""

    def _feros_source(self) -> Dict[str, Any]:
        return {
            'file': _wire.template(self.__param_file),
            'substitute': _wire.flag(self.__allow_substs),
        }
