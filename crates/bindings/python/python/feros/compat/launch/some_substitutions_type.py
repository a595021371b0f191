"""The types that can be written where a text is expected."""

import os
from collections.abc import Iterable as AnyIterable
from typing import Iterable, Text, Union

from .substitution import Substitution

SomeSubstitutionsType = Union[
    Text,
    'os.PathLike[str]',
    Substitution,
    Iterable[Union[Text, 'os.PathLike[str]', Substitution]],
]

SomeSubstitutionsType_types_tuple = (str, os.PathLike, Substitution, AnyIterable)
