"""Contexts: the result of `rclpy.init`, one participant in the graph."""

import re
import sys
import threading
import weakref
from typing import Any, Callable, List, Optional, Protocol

from . import _rclpy_pybind11 as _rclpy
from ._handles import ContextHandle
from ._native import extension
from ._native.errors import RCLInvalidROSArgsError, UnknownROSArgsError
from .exceptions import NotInitializedException

_initialized: 'weakref.WeakSet[Context]' = weakref.WeakSet()
_HIGHEST_DOMAIN_ID = 232


def argument_error(said: str) -> Exception:
    """Returns the exception for invalid arguments, chosen by the error text of the extension."""
    unknown = re.match('.*unknown ROS argument "(.*?)"', said)
    if unknown is not None:
        return UnknownROSArgsError(f'[{unknown[1]!r}]: {said}')
    return RCLInvalidROSArgsError(f'Failed to parse ROS arguments: {said}')


class _Node(Protocol):
    """The part of a node that its context uses."""

    def destroy_node(self) -> None: ...


class Context:
    """One participant, from its `init` to its `shutdown`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._native: Any = None
        self._callbacks: List[Any] = []
        self._nodes: 'weakref.WeakSet[_Node]' = weakref.WeakSet()
        self._rclpy_uses = 0  # the number of current uses of the handle

    @property
    def handle(self) -> Optional[ContextHandle]:
        """Replaces the C structure of stock ROS 2, once the context is initialized."""
        return None if self._native is None else ContextHandle(self)

    def init(
        self,
        args: Optional[List[str]] = None,
        *,
        initialize_logging: bool = True,
        domain_id: Optional[int] = None,
    ) -> None:
        """Joins the graph, with options from the arguments (`sys.argv` if `None`) and the
        environment.

        Raises `RuntimeError` if the context was already initialized, or the domain is invalid.
        """
        if domain_id is not None and not 0 <= domain_id <= _HIGHEST_DOMAIN_ID:
            raise RuntimeError(
                f'Domain id ({domain_id}) should not be lower than zero,'
                f' nor higher than {_HIGHEST_DOMAIN_ID}.'
            )
        arguments = list(sys.argv[1:] if args is None else args)
        with self._lock:
            if self._native is not None:
                raise RuntimeError('Context.init() must only be called once')
            try:
                self._native = extension.Context(arguments, domain_id)
            except extension.FerosError as error:
                raise argument_error(str(error)) from None
        _initialized.add(self)

    @property
    def native(self) -> Any:
        """The extension's context; raises `NotInitializedException` if there is no context."""
        if self._native is None:
            raise NotInitializedException()
        return self._native

    def track_node(self, node: _Node) -> None:
        """Destroys the node when the `with` block of the context ends."""
        self._nodes.add(node)

    def untrack_node(self, node: _Node) -> None:
        """Forgets a node."""
        self._nodes.discard(node)

    def _rclpy_any_node(self) -> Any:
        """Returns any node of the context, for objects that belong to no node but must be spun.

        Raises `RuntimeError` if there is no node.
        """
        for node in self._nodes:
            return node
        raise RuntimeError('the context has no node yet: create a node first')

    def ok(self) -> bool:
        """Returns whether the context is initialized and has not been shut down."""
        native = self._native
        return native is not None and native.ok()

    def _call_on_shutdown_callbacks(self) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
        for reference in callbacks:
            callback = reference()
            if callback is not None:
                callback()

    def shutdown(self) -> None:
        """Ends all waits; raises `RuntimeError` if the context is not running."""
        with self._lock:
            if self._native is None:
                raise RuntimeError('Context must be initialized before it can be shutdown')
            if not self._native.ok():
                raise RuntimeError('Context already shutdown.')
            self._native.shutdown()
        self._call_on_shutdown_callbacks()

    def try_shutdown(self) -> None:
        """Shuts the context down, unless that has already happened."""
        with self._lock:
            if self.ok():
                self._native.shutdown()
        self._call_on_shutdown_callbacks()

    def destroy(self) -> None:
        """Shuts down."""
        self.try_shutdown()

    def on_shutdown(self, callback: Callable[[], None]) -> None:
        """Calls a function, or a method of an object that is still alive, at the shutdown."""
        if not callable(callback):
            raise TypeError('callback should be a callable')
        bound = hasattr(callback, '__self__')
        reference = weakref.WeakMethod(callback) if bound else (lambda: callback)
        with self._lock:
            if not self.ok():
                callback()
            else:
                self._callbacks.append(reference)

    def get_domain_id(self) -> int:
        """Returns the domain."""
        return self.native.domain_id

    def __enter__(self) -> 'Context':
        if not self.ok():
            self.init()
        return self

    def __exit__(self, *_: Any) -> None:
        for node in list(self._nodes):
            node.destroy_node()
        self.try_shutdown()


def shutdown_all() -> None:
    """Shuts every context of the process down, like a signal."""
    for context in list(_initialized):
        context.try_shutdown()
