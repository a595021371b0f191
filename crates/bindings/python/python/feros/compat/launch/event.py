"""The base of all events."""

from typing import Any, Dict


class Event:
    """What happens in a launch. A launch file may derive its own events from it."""

    name = 'launch.Event'

    def _feros_data(self) -> Dict[str, Any]:
        """The event as `feros launch` emits it."""
        from ._objects import number_of

        return {'event': 'py', 'id': number_of(self), 'name': type(self).__name__}
