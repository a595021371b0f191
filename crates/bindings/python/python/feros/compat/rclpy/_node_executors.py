"""The executor that spins a node, and the handling of data that arrives while no executor spins the
node."""

import weakref
from typing import Any, Callable, Dict, List, Optional

from . import _unspun
from ._entity import Entity
from ._native import extension


class NodeExecutors:
    """The executor of a node."""

    _rclpy_entities: Dict[str, List[Any]]
    _rclpy_native: Any

    def _rclpy_start_unspun(self) -> None:
        self._rclpy_executor: Callable[[], Any] = lambda: None
        self._rclpy_last_executor: Callable[[], Any] = lambda: None
        self._rclpy_listened_to: set = set()
        self._rclpy_unspun: Optional[_unspun.Unspun] = None

    @property
    def executor(self) -> Any:
        """The executor that spins the node or last spun it, if there is one."""
        return self._rclpy_executor() or self._rclpy_last_executor()

    @executor.setter
    def executor(self, new_executor: Any) -> None:
        current = self._rclpy_executor()
        if new_executor is not None and current is new_executor:
            return
        if current is not None:
            current.remove_node(self)
        if new_executor is None:
            self._rclpy_executor = self._rclpy_last_executor = lambda: None
            return
        self._rclpy_end_unspun()
        self._rclpy_executor = weakref.ref(new_executor)
        if not isinstance(new_executor._native, extension.Executor):  # of another package
            new_executor.add_node(self)
            return
        new_executor._native.add_node(self._rclpy_native)
        if self not in new_executor._nodes:
            new_executor.add_node(self)
        self._rclpy_tell_waiting(new_executor)

    def _rclpy_tell_waiting(self, executor: Any) -> None:
        for entities in self._rclpy_entities.values():
            for entity in list(entities):
                entity._follow(executor)  # also for data that arrived before

    def _rclpy_leave(self, executor: Any) -> None:
        if self._rclpy_executor() is executor:
            if self._rclpy_native is not None:
                executor._native.remove_node(self._rclpy_native)
            self._rclpy_last_executor = self._rclpy_executor
            self._rclpy_executor = lambda: None
            self._rclpy_tell_waiting(None)
            self._rclpy_follow_unspun()

    # Data that arrives while no executor spins the node.

    def _rclpy_collect(self) -> None:
        executor = self._rclpy_executor()
        if executor is not None:
            _unspun.collect(executor._native)
        elif self._rclpy_native is not None:
            if self._rclpy_unspun is None:
                self._rclpy_unspun = _unspun.Unspun(self._rclpy_native)
            self._rclpy_unspun.collect()

    def _rclpy_listened(self, entity: Entity, is_listened: bool) -> None:
        if not is_listened and entity not in self._rclpy_listened_to:
            return
        change = self._rclpy_listened_to.add if is_listened else self._rclpy_listened_to.discard
        change(entity)
        _unspun.note(self, bool(self._rclpy_listened_to))
        self._rclpy_follow_unspun()

    def _rclpy_follow_unspun(self) -> None:
        is_listened = bool(self._rclpy_listened_to) and self._rclpy_native is not None
        if is_listened and self._rclpy_executor() is None and self._rclpy_unspun is None:
            self._rclpy_unspun = _unspun.Unspun(self._rclpy_native)
        if self._rclpy_unspun is not None:
            self._rclpy_unspun.follow(is_listened)

    def _rclpy_end_unspun(self) -> None:
        unspun, self._rclpy_unspun = self._rclpy_unspun, None
        if unspun is not None:
            unspun.end()

    def _rclpy_lend(self, native_executor: Any) -> bool:
        """Lets an executor of the extension spin the node for a while, if no other executor spins
        it."""
        if self._rclpy_executor() is not None or self._rclpy_native is None:
            return False
        self._rclpy_end_unspun()
        native_executor.add_node(self._rclpy_native)
        return True

    def _rclpy_take_back(self, native_executor: Any) -> None:
        native_executor.remove_node(self._rclpy_native)
        self._rclpy_follow_unspun()

    def _wake_executor(self) -> None:
        executor = self._rclpy_executor()
        if executor is not None:
            executor.wake()
