"""The features that stock ROS 2 offers as experimental."""

from .async_clock import AsyncClock
from .async_node import AsyncClient, AsyncNode, AsyncService, AsyncSubscription, AsyncTimer
from .events_executor import EventsExecutor

__all__ = [
    'AsyncClient', 'AsyncClock', 'AsyncNode', 'AsyncService', 'AsyncSubscription', 'AsyncTimer',
    'EventsExecutor',
]
