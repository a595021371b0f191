"""Entities that are made of several, as stock has them. They wait here by being told."""

from typing import Any, Generic, List, TypeVar

from ._entity import _MOST_WAITING, Entity
from .task import Future

T = TypeVar('T')


class NumberOfEntities:
    """How many of each kind something is made of."""

    __slots__ = [
        'num_subscriptions', 'num_guard_conditions', 'num_timers', 'num_clients', 'num_services',
        'num_events',
    ]

    def __init__(
        self,
        num_subs: int = 0,
        num_gcs: int = 0,
        num_timers: int = 0,
        num_clients: int = 0,
        num_services: int = 0,
        num_events: int = 0,
    ) -> None:
        self.num_subscriptions = num_subs
        self.num_guard_conditions = num_gcs
        self.num_timers = num_timers
        self.num_clients = num_clients
        self.num_services = num_services
        self.num_events = num_events

    def __add__(self, other: 'NumberOfEntities') -> 'NumberOfEntities':
        return NumberOfEntities(*(getattr(self, n) + getattr(other, n) for n in self.__slots__))

    def __repr__(self) -> str:
        counts = ', '.join(str(getattr(self, name)) for name in self.__slots__)
        return f'{type(self).__name__}({counts})'


class Waitable(Entity, Generic[T]):
    """Something that executors run besides subscriptions, timers, clients and services."""

    def __init__(self, callback_group: Any, depth: int = _MOST_WAITING) -> None:
        super().__init__(callback_group, depth)
        self._futures: List[Future] = []

    def add_future(self, future: Future) -> None:
        """Has the executor see to a future."""
        self._futures.append(future)

    def remove_future(self, future: Future) -> None:
        """Forgets a future."""
        self._futures = [known for known in self._futures if known is not future]


def refuse_own(waitable: Waitable) -> None:
    """Refuses what expects to be asked by a wait set: executors of Feros are told of what is ready."""
    if hasattr(waitable, 'add_to_wait_set') or hasattr(waitable, 'is_ready'):
        raise NotImplementedError(
            f'{type(waitable).__name__} waits by a wait set, which the rclpy of Feros has none of: '
            'use a subscription, timer, guard condition or future instead'
        )
