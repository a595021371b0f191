"""Waitables: entities that consist of several other entities, as in stock."""

from typing import Any, Callable, Generic, List, Optional, Tuple, TypeVar

from . import _rclpy_pybind11 as _rclpy
from ._entity import _MOST_WAITING, Entity
from ._wait_set import WaitSet
from .task import Future

T = TypeVar('T')


class NumberOfEntities:
    """The numbers of entities of each kind that an object consists of."""

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
    """An entity that executors run in addition to subscriptions, timers, clients and services.

    A subclass in a script adds its entities in `add_to_wait_set(wait_set)`, and
    `is_ready(wait_set)` returns whether it is ready. If so, the executor runs
    `execute(take_data())`.
    """

    def __init__(self, callback_group: Any, depth: int = _MOST_WAITING) -> None:
        super().__init__(callback_group, depth)
        self._futures: List[Future] = []
        self._wait_set: Optional[WaitSet] = None

    def add_future(self, future: Future) -> None:
        """Makes the executor complete a future."""
        self._futures.append(future)

    def remove_future(self, future: Future) -> None:
        """Forgets a future."""
        self._futures = [known for known in self._futures if known is not future]

    def is_ready(self, wait_set: WaitSet) -> bool:
        """Returns whether there is data to take."""
        raise NotImplementedError('Must be implemented by subclass')

    def take_data(self) -> T:
        """Returns the argument of `execute`; the waitable is then no longer ready."""
        raise NotImplementedError('Must be implemented by subclass')

    async def execute(self, taken_data: T) -> None:
        """Processes the taken data."""
        raise NotImplementedError('Must be implemented by subclass')

    def get_num_entities(self) -> NumberOfEntities:
        """Returns the numbers of entities of each kind that the waitable waits for."""
        raise NotImplementedError('Must be implemented by subclass')

    def add_to_wait_set(self, wait_set: WaitSet) -> None:
        """Adds the entities that the waitable waits for."""
        raise NotImplementedError('Must be implemented by subclass')

    @property
    def _is_own(self) -> bool:
        """Whether a script defines the waitable. Waitables of this package are notified instead of
        waiting with a wait set."""
        return type(self).add_to_wait_set is not Waitable.add_to_wait_set

    def _begin(self, node: Any) -> None:
        """Starts waiting for the entities of the subclass, when the waitable is added to a node."""
        if self._is_own:
            self._wait_anew(node)

    def _end(self) -> None:
        """Stops waiting. The entities stay, since they belong to the script."""
        wait_set, self._wait_set = self._wait_set, None
        if wait_set is not None:
            wait_set._tell(None)
        self._queue.clear()

    def _wait_anew(self, node: Any) -> None:
        counts = self.get_num_entities()
        numbers = (getattr(counts, name) for name in counts.__slots__)
        wait_set = WaitSet(*numbers, node.context, node=node)
        self.add_to_wait_set(wait_set)
        self._wait_set = wait_set
        wait_set._tell(self._look_soon)
        if wait_set._any_waits():
            self._look_soon(1)

    def _look_soon(self, _count: int) -> None:
        if not self._queue:  # one check covers all data that has arrived
            self._arrived(None)

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        wait_set = self._wait_set
        if wait_set is None:
            return _nothing, ()
        wait_set._look()
        if not self.is_ready(wait_set):
            return _nothing, ()
        return self.execute, (self.take_data(),)

    def _finish(self, data: Any, result: Any) -> None:
        node = self._find_node()
        if self._wait_set is not None and node is not None:
            self._wait_set._tell(None)
            self._wait_anew(node)


def _nothing() -> None:
    """Called if no entity is ready."""
