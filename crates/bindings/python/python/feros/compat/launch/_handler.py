"""The handlers of events that a launch file registers."""

from typing import Any, Dict, TypeVar

from ._objects import number_of
from ._positions import Placed


class Handler(Placed):
    """A handler of events, as the command knows it."""

    def _feros_data(self) -> Dict[str, Any]:
        """The handler as data."""
        raise NotImplementedError

    def _feros_registration(self) -> Dict[str, Any]:
        """What `feros launch` does to register the handler."""
        return {'do': 'register', 'handler': self._feros_data()}

    def _feros_removal(self) -> Dict[str, Any]:
        """What `feros launch` does to remove the handler."""
        return {'do': 'unregister', 'handler': number_of(self)}


SomeHandler = TypeVar('SomeHandler', bound=Handler)


def checked_handler(handler: SomeHandler, name: str) -> SomeHandler:
    """Refuses what is no handler."""
    if not isinstance(handler, Handler):
        raise TypeError(f'`event_handler` of `{name}` is {handler!r:.80}: expected a handler, for'
                        ' example `OnProcessExit(...)` of `launch.event_handlers`')
    return handler
