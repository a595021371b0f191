"""The types in which remappings can be given."""

from typing import Iterable, Sequence, Tuple

from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution

SomeRemapRule = Tuple[SomeSubstitutionsType, SomeSubstitutionsType]
SomeRemapRules = Iterable[SomeRemapRule]
RemapRule = Tuple[Sequence[Substitution], Sequence[Substitution]]
RemapRules = Iterable[RemapRule]
