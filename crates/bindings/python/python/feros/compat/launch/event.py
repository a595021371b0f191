"""The base of all events."""

from typing import Any, Dict

from ._objects import number_of


class Event:
    """What happens in a launch. A launch file may derive its own events from it."""

    name = 'launch.Event'

    def _feros_data(self) -> Dict[str, Any]:
        """The event as `feros launch` emits it."""
        return {'event': 'py', 'id': number_of(self), 'name': type(self).__name__}

    def _feros_emission(self) -> Dict[str, Any]:
        """What `feros launch` does to emit the event."""
        return {'do': 'emit', 'event': self._feros_data()}


def checked_event(event: Any) -> Event:
    """Refuses what is no event."""
    if not isinstance(event, Event):
        kind = 'the class itself' if isinstance(event, type) else 'no event'
        raise TypeError(f'`event` of `EmitEvent` is {event!r:.80}, {kind}: write for example'
                        ' `event=Shutdown()` of `launch.events`')
    return event
