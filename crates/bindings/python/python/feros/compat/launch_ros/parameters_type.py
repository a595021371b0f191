"""The types in which parameters can be given."""

import os
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution

SomeParameterFile = Union[SomeSubstitutionsType, 'os.PathLike[str]']
SomeParameterName = Union[Substitution, str, Sequence[Union[Substitution, str]]]
SomeParameterValue = Any
SomeParametersDict = Mapping[Any, Any]
SomeParameters = Sequence[Any]

ParameterName = Tuple[Substitution, ...]
ParameterValue = Any
ParametersDict = Dict[ParameterName, ParameterValue]
Parameters = Sequence[Any]
EvaluatedParameterValue = Union[
    str, int, float, bool, bytes, List[str], List[int], List[float], List[bool]]
EvaluatedParameters = Sequence[Any]
