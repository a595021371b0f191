"""What follows the life cycle of its node: callbacks of transitions, and how they end."""

from enum import Enum
from functools import wraps
from typing import Any, Callable, Optional


class TransitionCallbackReturn(Enum):
    """How the callback of a transition ended; the numbers are those of `lifecycle_msgs`."""

    SUCCESS = 97
    FAILURE = 98
    ERROR = 99

    def to_label(self) -> str:
        """The label of the transition that follows."""
        return f'transition_{self.name.lower()}'


class ManagedEntity:
    """Something that a managed node tells of its transitions; all callbacks succeed here."""

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """Called with the state that was left, to get ready."""
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """Called with the state that was left, to undo `on_configure`."""
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: Any) -> TransitionCallbackReturn:
        """Called with the state that was left, to end for good."""
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Called with the state that was left, to begin working."""
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """Called with the state that was left, to end working."""
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: Any) -> TransitionCallbackReturn:
        """Called after an error of another callback; with success the node is unconfigured."""
        return TransitionCallbackReturn.SUCCESS


class SimpleManagedEntity(ManagedEntity):
    """An entity that only knows whether it is activated."""

    def __init__(self) -> None:
        self._enabled = False

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Methods under `when_enabled` work from now on."""
        self._enabled = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """Methods under `when_enabled` do nothing from now on."""
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
        """Decorates a method that does nothing, or calls `when_not_enabled`, without activation."""

        def decorate(method: Callable[..., None]) -> Callable[..., None]:
            @wraps(method)
            def guarded(self: 'SimpleManagedEntity', *args: Any, **kwargs: Any) -> None:
                if self._enabled:
                    method(self, *args, **kwargs)
                elif when_not_enabled is not None:
                    when_not_enabled()

            return guarded

        return decorate if wrapped is None else decorate(wrapped)
