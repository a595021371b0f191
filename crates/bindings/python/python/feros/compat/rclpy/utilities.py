"""The default context, and small queries."""

import sys
import threading
from typing import List, Optional, Sequence, Set

from .constants import S_TO_NS
from .context import Context

g_default_context: Optional[Context] = None
g_context_lock = threading.RLock()


def get_default_context(*, shutting_down: bool = False) -> Context:
    """Returns the default context, made when first needed."""
    global g_default_context
    with g_context_lock:
        if g_default_context is None:
            g_default_context = Context()
        if shutting_down:
            old, g_default_context = g_default_context, None
            return old
        return g_default_context


def remove_ros_args(args: Optional[Sequence[str]] = None) -> List[str]:
    """Returns the arguments that are not between `--ros-args` and `--`."""
    rest, ours = [], False
    for argument in sys.argv if args is None else args:
        if argument == '--ros-args':
            ours = True
        elif ours:
            ours = argument != '--'
        else:
            rest.append(argument)
    return rest


def ok(*, context: Optional[Context] = None) -> bool:
    """Returns whether the context is initialized and has not been shut down."""
    return (context or get_default_context()).ok()


def shutdown(*, context: Optional[Context] = None) -> None:
    """Shuts the context down; raises `RuntimeError` if that has already happened."""
    (get_default_context(shutting_down=True) if context is None else context).shutdown()


def try_shutdown(*, context: Optional[Context] = None) -> None:
    """Shuts the context down, unless that has already happened."""
    global g_default_context
    if context is not None:
        context.try_shutdown()
        return
    with g_context_lock:
        if g_default_context is not None:
            old, g_default_context = g_default_context, None
            old.try_shutdown()


def get_rmw_implementation_identifier() -> str:
    """Returns the name of Feros, in place of the name of an rmw implementation."""
    return 'feros'


def get_available_rmw_implementations() -> Set[str]:
    """Returns a set with the name of the only implementation."""
    return {get_rmw_implementation_identifier()}


def timeout_sec_to_nsec(timeout_sec: Optional[float]) -> int:
    """Returns the nanoseconds; -1, which means forever, for `None` and negative numbers."""
    if timeout_sec is None or timeout_sec < 0:
        return -1
    return int(float(timeout_sec) * S_TO_NS)
