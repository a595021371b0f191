"""The event that ends the launch, which the action of the same name emits."""

from typing import Any, Dict, Text

from .event import Event


class Shutdown(Event):
    """The launch ends."""

    name = 'launch.events.Shutdown'

    def __init__(
        self, *, reason: Text = 'reason not given', due_to_sigint: bool = False,
    ) -> None:
        self.__reason = reason
        self.__due_to_sigint = due_to_sigint

    @property
    def reason(self) -> Text:
        """The reason for people."""
        return self.__reason

    @property
    def due_to_sigint(self) -> bool:
        """Whether Ctrl-C ends the launch."""
        return self.__due_to_sigint

    def _feros_emission(self) -> Dict[str, Any]:
        return {'do': 'shutdown', 'reason': str(self.__reason)}
