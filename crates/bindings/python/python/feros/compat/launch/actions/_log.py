"""Actions that write a message to the output of the launch."""

from typing import Any, Dict, List

from .. import _wire
from .._text import normalize_to_list_of_substitutions
from ..action import KnownAction
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution


class Log(KnownAction):
    """Writes a message."""

    def __init__(
        self, *, msg: SomeSubstitutionsType, level: SomeSubstitutionsType, **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__msg = normalize_to_list_of_substitutions(msg)
        self.__level = normalize_to_list_of_substitutions(level)

    @property
    def msg(self) -> List[Substitution]:
        """The message."""
        return self.__msg

    @property
    def level(self) -> List[Substitution]:
        """The severity: DEBUG, INFO, WARNING, ERROR or CRITICAL."""
        return self.__level

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'log',
            'level': _wire.template(self.__level),
            'message': _wire.template(self.__msg),
        }


class LogInfo(Log):
    """Writes a message for information."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(msg=msg, level='INFO', **kwargs)


class LogDebug(Log):
    """Writes a message that helps to find mistakes."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(msg=msg, level='DEBUG', **kwargs)


class LogWarning(Log):
    """Writes a warning."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(msg=msg, level='WARNING', **kwargs)


class LogError(Log):
    """Writes an error."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(msg=msg, level='ERROR', **kwargs)
