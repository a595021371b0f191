"""Wait sets, with which scripts wait without an executor. They find the entities that have waiting
data."""

import time
from typing import Any, Callable, Dict, List, Optional, Set

from ._handles import index_error, owner_of
from ._native import extension

_TICK_SECONDS = 0.5
"""The interval at which a wait checks whether an executor has started or stopped spinning a
node."""


class WaitSet:
    """Entities by kind and number, and the entities that the last wait found ready."""

    def __init__(
        self,
        num_subscriptions: int,
        num_guard_conditions: int,
        num_timers: int,
        num_clients: int,
        num_services: int,
        num_events: int,
        context: Any,
        *,
        node: Any = None,
    ) -> None:
        self._entities: Dict[str, List[Any]] = {}
        self._ready: Dict[str, Set[int]] = {}
        self._context = context
        self._node = node  # spun during waits, if known

    def __enter__(self) -> 'WaitSet':
        return self

    def __exit__(self, *_: Any) -> None:
        self.clear_entities()

    def destroy_when_not_in_use(self) -> None:
        """Forgets all entities."""
        self.clear_entities()

    def clear_entities(self) -> None:
        """Forgets all entities."""
        self._entities, self._ready = {}, {}

    def _add(self, kind: str, handle: Any) -> int:
        entities = self._entities.setdefault(kind, [])
        entities.append(owner_of(handle, kind)._living)
        return len(entities) - 1

    def add_subscription(self, subscription: Any) -> int:
        """Adds a subscription; returns its number."""
        return self._add('subscription', subscription)

    def add_guard_condition(self, guard_condition: Any) -> int:
        """Adds a guard condition; returns its number."""
        return self._add('guard_condition', guard_condition)

    def add_timer(self, timer: Any) -> int:
        """Adds a timer; returns its number."""
        number = self._add('timer', timer)
        if self._node is not None:
            self._entities['timer'][number]._be_spun_with(self._node)
        return number

    def add_client(self, client: Any) -> int:
        """Adds a client; returns its number."""
        return self._add('client', client)

    def add_service(self, service: Any) -> int:
        """Adds a server; returns its number."""
        return self._add('service', service)

    def add_event(self, event: Any) -> int:
        """Adds an event; returns its number."""
        return self._add('event', event)

    def _all(self) -> List[Any]:
        return [entity for entities in self._entities.values() for entity in entities]

    def _any_waits(self) -> bool:
        return any(entity._queue for entity in self._all())

    def _look(self) -> bool:
        """Finds the ready entities; returns whether there are any. Resets guard conditions."""
        self._ready = {
            kind: {number for number, entity in enumerate(entities) if entity._queue}
            for kind, entities in self._entities.items()
        }
        for number in self._ready.get('guard_condition', ()):
            self._entities['guard_condition'][number]._queue.clear()
        return any(self._ready.values())

    def _tell(self, listener: Optional[Callable[[int], None]]) -> None:
        for entity in self._all():
            entity._queue.watch(listener)

    def wait(self, timeout_nsec: int) -> None:
        """Waits until an entity is ready; waits forever if the time is negative."""
        end = None if timeout_nsec < 0 else time.monotonic() + timeout_nsec / 1e9
        unspun = extension.Executor(1, 'ros')  # wakes the wait; spins nodes without executors
        self._tell(lambda _: unspun.wake())
        try:
            while True:
                for entity in self._all():
                    entity._collect()
                if self._look() or not self._context.ok():
                    return
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return
                tick = _TICK_SECONDS if left is None else min(left, _TICK_SECONDS)
                self._wait_at_most(unspun, tick)
        finally:
            self._tell(None)

    def _wait_at_most(self, unspun: Any, seconds: float) -> None:
        nodes = {entity._find_node() for entity in self._all()} - {None}
        lent = [node for node in nodes if node._rclpy_lend(unspun)]
        try:
            unspun.spin_until(self._any_waits, seconds)
        finally:
            for node in lent:
                node._rclpy_take_back(unspun)

    def is_ready(self, entity_type: str, index: int) -> bool:
        """Returns whether the last wait found an entity ready; raises `RCLError` for an unknown
        number."""
        known = self._entities.get(entity_type, [])
        if not 0 <= index < len(known):
            raise index_error(entity_type, index, known)
        return index in self._ready.get(entity_type, ())

    def get_ready_entities(self, entity_type: str) -> List[int]:
        """Returns the `pointer` of each entity that the last wait found ready."""
        entities = self._entities.get(entity_type, [])
        return [entities[number].pointer for number in sorted(self._ready.get(entity_type, ()))]
