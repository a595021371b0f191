"""Callback groups, which determine the callbacks that may run at the same time."""

import weakref
from typing import Any

from ._native import extension


class CallbackGroup:
    """Entities whose callbacks follow one rule. The group does not keep the entities alive."""

    def __init__(self) -> None:
        self.entities: set = set()

    def add_entity(self, entity: Any) -> None:
        """Adds `entity` to the group."""
        self.entities.add(weakref.ref(entity))

    def has_entity(self, entity: Any) -> bool:
        """Returns whether `entity` is a member."""
        return weakref.ref(entity) in self.entities

    def can_execute(self, entity: Any) -> bool:
        """Returns whether a callback of `entity` may begin now."""
        raise NotImplementedError()

    def beginning_execution(self, entity: Any) -> bool:
        """Claims the right to run; `False` while another member has it."""
        raise NotImplementedError()

    def ending_execution(self, entity: Any) -> None:
        """Gives up the right to run."""
        raise NotImplementedError()


class ReentrantCallbackGroup(CallbackGroup):
    """Callbacks run whenever a thread is free, even several callbacks of one entity at the same
    time."""

    def can_execute(self, entity: Any) -> bool:
        """Returns `True`."""
        return True

    def beginning_execution(self, entity: Any) -> bool:
        """Returns `True`."""
        return True

    def ending_execution(self, entity: Any) -> None:
        """Does nothing, since nothing was claimed."""


class MutuallyExclusiveCallbackGroup(CallbackGroup):
    """Runs one callback at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._exclusive = extension.ExclusiveGroup()

    def can_execute(self, entity: Any) -> bool:
        """Returns whether no callback of a member is running."""
        assert weakref.ref(entity) in self.entities
        return self._exclusive.is_free()

    def beginning_execution(self, entity: Any) -> bool:
        """Claims the right to run; `False` while another member has it."""
        assert weakref.ref(entity) in self.entities
        return self._exclusive.begin(id(entity))

    def ending_execution(self, entity: Any) -> None:
        """Lets the next callback run."""
        ended = self._exclusive.end(id(entity))
        assert ended
