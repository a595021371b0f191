"""What stock has under this name to try it out."""

from .async_clock import AsyncClock
from .async_node import AsyncClient, AsyncNode, AsyncService, AsyncSubscription, AsyncTimer
from .events_executor import EventsExecutor

__all__ = [
    'AsyncClient', 'AsyncClock', 'AsyncNode', 'AsyncService', 'AsyncSubscription', 'AsyncTimer',
    'EventsExecutor',
]
