"""Guard conditions: callbacks that any thread can trigger."""

from typing import Any, Callable, Optional, Tuple

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from ._entity import Entity
from ._handles import GuardConditionHandle
from .context import Context


class GuardCondition(Entity):
    """Makes an executor run a callback after each trigger."""

    _handle_type = GuardConditionHandle

    def __init__(
        self,
        callback: Optional[Callable[[], None]],
        callback_group: Any,
        context: Optional[Context] = None,
    ) -> None:
        from .utilities import get_default_context

        super().__init__(callback_group, depth=1)
        self._context = get_default_context() if context is None else context
        if not self._context.ok():
            from ._native.errors import InvalidHandle
            from .exceptions import NotInitializedException

            if self._context.handle is None:
                raise NotInitializedException()
            raise InvalidHandle('context is shut down')
        self.callback = callback

    def trigger(self) -> None:
        """Triggers the callback, from any thread. Several triggers before the callback runs count
        as one."""
        self._living  # noqa: B018: raises when destroyed
        self._arrived(None)

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        return self.callback or (lambda: None), ()


__getattr__ = reexports(__name__)
