"""Entities that follow the life cycle of their node: the callbacks of transitions, and the results
of these callbacks."""

from enum import Enum
from functools import wraps
from typing import Any, Callable, Optional

from .. import _rclpy_pybind11 as _rclpy


class TransitionCallbackReturn(Enum):
    """The result of a transition's callback; the numbers are those of `lifecycle_msgs`."""

    SUCCESS = 97
    FAILURE = 98
    ERROR = 99

    def to_label(self) -> str:
        """Returns the label of the transition that this result causes."""
        return f'transition_{self.name.lower()}'


class ManagedEntity:
    """An entity that a managed node notifies of its transitions. In this base class, all callbacks
    succeed."""

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """Prepares the entity for its work; called with the previous state."""
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """Undoes `on_configure`; called with the previous state."""
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: Any) -> TransitionCallbackReturn:
        """Ends the entity permanently; called with the previous state."""
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Begins to work; called with the previous state."""
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """Stops working; called with the previous state."""
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: Any) -> TransitionCallbackReturn:
        """Called after an error of another callback; after success the node is unconfigured."""
        return TransitionCallbackReturn.SUCCESS


class SimpleManagedEntity(ManagedEntity):
    """An entity that only knows whether it is activated."""

    def __init__(self) -> None:
        self._enabled = False

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Activates the entity: methods under `when_enabled` work from now on."""
        self._enabled = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """Deactivates the entity: methods under `when_enabled` do nothing from now on."""
        self._enabled = False
        return TransitionCallbackReturn.SUCCESS

    @property
    def is_activated(self) -> bool:
        """Whether the entity is activated."""
        return self._enabled

    @staticmethod
    def when_enabled(
        wrapped: Optional[Callable[..., None]] = None,
        *,
        when_not_enabled: Optional[Callable[..., None]] = None,
    ) -> Any:
        """Decorates a method. While the entity is not activated, the method does nothing or calls
        `when_not_enabled`."""

        def decorate(method: Callable[..., None]) -> Callable[..., None]:
            @wraps(method)
            def guarded(self: 'SimpleManagedEntity', *args: Any, **kwargs: Any) -> None:
                if self._enabled:
                    method(self, *args, **kwargs)
                elif when_not_enabled is not None:
                    when_not_enabled()

            return guarded

        return decorate if wrapped is None else decorate(wrapped)
