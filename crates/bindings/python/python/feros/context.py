"""The context: one participant in the ROS graph, with its nodes and its shutdown."""

import atexit
import os
import sys
import weakref

from feros import _feros
from feros._gone import Gone

_open = weakref.WeakSet()
_was_made = False  # in this process, or before it was forked
_is_forked = False


def _shutdown_all():
    """Ends the threads that call Python, before the interpreter ends."""
    for context in list(_open):
        context.shutdown()


def _forget_all():
    """Called in a forked child, which lacks the threads that a context and its engine need."""
    global _is_forked
    _is_forked = _was_made
    for context in list(_open):
        context._end(_FORKED)
    _open.clear()


_FORKED = (
    "this process was forked after its parent had created a context, whose threads do not exist"
    " here: start a new process, for example with the method `spawn` of multiprocessing, or fork"
    " before the first context"
)


atexit.register(_shutdown_all)
os.register_at_fork(after_in_child=_forget_all)


class Context:
    """One participant of the graph. Use it as a context manager, with `with` or `async with`, so
    that it is shut down at the end.

    `args` are the command-line arguments without the program's name, by default `sys.argv[1:]`; the
    context uses the arguments after `--ros-args`, and `remaining_arguments` has the other
    arguments. `domain_id` is the value of ROS_DOMAIN_ID by default, and `ros_distro` the value of
    FEROS_ROS_DISTRO: with "humble", the context announces itself as nodes of ROS 2 Humble do.

    Raises `FerosError` if arguments or environment are invalid.
    """

    def __init__(self, args=None, *, domain_id=None, ros_distro=None):
        global _was_made
        if _is_forked:
            raise _feros.FerosError(_FORKED)
        args = sys.argv[1:] if args is None else list(args)
        _was_made = True
        self._context = _feros.Context(args, domain_id, ros_distro)
        self._nodes = weakref.WeakSet()
        self._background = None
        _open.add(self)

    @property
    def remaining_arguments(self):
        """The arguments that are not ROS arguments."""
        return self._context.remaining_arguments

    @property
    def domain_id(self):
        """The domain id."""
        return self._context.domain_id

    def ok(self):
        """Returns `True` until the context is shut down."""
        return self._context.ok()

    def shutdown(self):
        """Ends all spinning and waiting. A second call has no effect."""
        self._context.shutdown()
        background, self._background = self._background, None
        if background is not None:
            background.join()

    def on_shutdown(self, callback):
        """Calls `callback()` when the context is shut down, on the thread that shuts it down."""
        self._context.on_shutdown(callback)

    def create_node(self, name, **options):
        """Creates a node; see `Node` for the options."""
        from feros.node import Node

        return Node(name, context=self, **options)

    def create_lifecycle_node(self, name, **options):
        """Creates a managed node without callbacks; for callbacks, derive from `LifecycleNode`."""
        from feros.lifecycle import LifecycleNode

        return LifecycleNode(name, context=self, **options)

    def spin_in_background(self, node):
        """Runs the callbacks of a node on a thread of the context, if no executor spins the node
        yet. Awaiting in asyncio needs this thread, and starts it if necessary."""
        if node._executor is not None:
            return
        if self._background is None:
            self._background = _feros.Executor()
        self._background.add_node(node._node)
        node._executor = self._background
        self._background.start()

    def _end(self, why):
        for node in list(self._nodes):
            node._end(why)
        self._context, self._background = Gone(why), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # After the shutdown, the engine tells others once that all nodes have left. Before it, the
        # engine would tell them of each endpoint, and all nodes of the graph would follow.
        self.shutdown()
        for node in list(self._nodes):
            node.destroy()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.__exit__()
