"""The base of all conditions."""

from typing import Any, Callable, Dict, Optional, Text

from ._positions import Placed
from .launch_context import LaunchContext


class Condition(Placed):
    """A condition with a function that decides."""

    def __init__(self, *, predicate: Optional[Callable[[LaunchContext], bool]] = None) -> None:
        self._predicate = predicate

    def describe(self) -> Text:
        """Returns a text for people."""
        return repr(self)

    def evaluate(self, context: LaunchContext) -> bool:
        """Returns whether the condition holds."""
        predicate = self._predicate
        return False if predicate is None else bool(predicate(context))

    def _feros_condition(self) -> Optional[Dict[str, Any]]:
        """The condition as data; `None` if the command has to ask for `evaluate`."""
        return None
