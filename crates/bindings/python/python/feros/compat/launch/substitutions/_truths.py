"""Substitutions that give `true` or `false`, or choose by these."""

import os
from typing import Any, Iterable, List, Optional, Sequence, Union

from .._text import normalize_to_list_of_substitutions
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import KnownSubstitution, Substitution
from ._shapes import OfTexts, OfValue


class NotSubstitution(OfValue):
    """`true` if a text is `false`."""

    _FEROS_KIND = 'not'

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(value))


class _Sides(OfTexts):

    @property
    def left(self) -> List[Substitution]:
        """The first text."""
        return self._feros_arguments()[0]

    @property
    def right(self) -> List[Substitution]:
        """The second text."""
        return self._feros_arguments()[1]


class _OfTwo(_Sides):

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__(
            normalize_to_list_of_substitutions(left), normalize_to_list_of_substitutions(right))


class AndSubstitution(_OfTwo):
    """`true` if both texts are `true`."""

    _FEROS_KIND = 'and'


class OrSubstitution(_OfTwo):
    """`true` if one of two texts is `true`."""

    _FEROS_KIND = 'or'


class _OfMany(KnownSubstitution):

    def __init__(self, *args: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__args = [normalize_to_list_of_substitutions(value) for value in args]

    @property
    def args(self) -> List[List[Substitution]]:
        """The texts."""
        return self.__args

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return self.__args


class AnySubstitution(_OfMany):
    """`true` if one of the texts is `true`."""

    _FEROS_KIND = 'any'


class AllSubstitution(_OfMany):
    """`true` if all texts are `true`."""

    _FEROS_KIND = 'all'


class EqualsSubstitution(_Sides):
    """`true` if two values are equal; booleans and numbers are compared by value."""

    _FEROS_KIND = 'equals'

    def __init__(
        self,
        left: Optional[Union[Any, Iterable[Any]]],
        right: Optional[Union[Any, Iterable[Any]]],
    ) -> None:
        super().__init__(_value(left), _value(right))


def _value(value: Any) -> List[Substitution]:
    """The parts of a value; what is no text is written as its `str`."""
    if value is None:
        value = ''
    is_text = isinstance(value, (str, os.PathLike, Substitution)) or (
        isinstance(value, Sequence)
        and all(isinstance(part, (str, os.PathLike, Substitution)) for part in value)
        and any(isinstance(part, Substitution) for part in value))
    return normalize_to_list_of_substitutions(value if is_text else str(value))


class NotEqualsSubstitution(EqualsSubstitution):
    """`true` if two values differ."""

    _FEROS_KIND = 'not-equals'


class IfElseSubstitution(OfTexts):
    """One of two texts, depending on a third one."""

    _FEROS_KIND = 'if'

    def __init__(
        self,
        condition: SomeSubstitutionsType,
        if_value: SomeSubstitutionsType = '',
        else_value: SomeSubstitutionsType = '',
    ) -> None:
        super().__init__(
            normalize_to_list_of_substitutions(condition),
            normalize_to_list_of_substitutions(if_value),
            normalize_to_list_of_substitutions(else_value))
        if if_value == '' and else_value == '':
            raise RuntimeError('IfElseSubstitution needs `if_value` or `else_value`')

    @property
    def condition(self) -> List[Substitution]:
        """The text that decides."""
        return self._feros_arguments()[0]

    @property
    def if_value(self) -> List[Substitution]:
        """The text if the condition is `true`."""
        return self._feros_arguments()[1]

    @property
    def else_value(self) -> List[Substitution]:
        """The text if the condition is `false`."""
        return self._feros_arguments()[2]


class IsEmptySubstitution(OfValue):
    """`true` if a text is empty."""

    _FEROS_KIND = 'is-empty'

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(value))


class NotEmptySubstitution(IsEmptySubstitution):
    """`true` if a text is not empty."""

    _FEROS_KIND = 'not-empty'
