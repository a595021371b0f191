"""The context that is used when none is named, and small questions."""

import sys
import threading
from typing import List, Optional, Sequence, Set

from .constants import S_TO_NS
from .context import Context

g_default_context: Optional[Context] = None
g_context_lock = threading.RLock()


def get_default_context(*, shutting_down: bool = False) -> Context:
    """The default context; made when it is asked for first."""
    global g_default_context
    with g_context_lock:
        if g_default_context is None:
            g_default_context = Context()
        if shutting_down:
            old, g_default_context = g_default_context, None
            return old
        return g_default_context


def remove_ros_args(args: Optional[Sequence[str]] = None) -> List[str]:
    """The arguments that are not between `--ros-args` and `--`."""
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
    """Whether the context is initialized and was not shut down."""
    return (context or get_default_context()).ok()


def shutdown(*, context: Optional[Context] = None) -> None:
    """Shuts the context down; raises `RuntimeError` where it is already."""
    (get_default_context(shutting_down=True) if context is None else context).shutdown()


def try_shutdown(*, context: Optional[Context] = None) -> None:
    """Shuts the context down where it is not already."""
    global g_default_context
    if context is not None:
        context.try_shutdown()
        return
    with g_context_lock:
        if g_default_context is not None:
            old, g_default_context = g_default_context, None
            old.try_shutdown()


def get_rmw_implementation_identifier() -> str:
    """What stands in the place of stock's middleware."""
    return 'feros'


def get_available_rmw_implementations() -> Set[str]:
    """The one that there is."""
    return {get_rmw_implementation_identifier()}


def timeout_sec_to_nsec(timeout_sec: Optional[float]) -> int:
    """Nanoseconds; -1, for ever, of `None` and of what is negative."""
    if timeout_sec is None or timeout_sec < 0:
        return -1
    return int(float(timeout_sec) * S_TO_NS)
