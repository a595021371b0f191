"""The old name of `event_handler`."""

from . import event_handler


def __getattr__(name: str):
    return getattr(event_handler, name)
