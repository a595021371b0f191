"""A node whose callbacks run in an asyncio event loop, among all other tasks of the loop.

    async def main():
        with rclpy.init():
            async with AsyncNode("listener") as node:
                node.create_subscription(String, "chatter", heard, 10)
                await asyncio.sleep(10)

A thread waits for data without the interpreter lock; the loop calls the callbacks.
"""

import asyncio
import inspect
import sys
import threading
import weakref
from typing import Any, Callable, List, Optional, Set

from .._entity import Entity
from .._native import extension
from .._native.errors import InvalidHandle
from ..action.graph import get_action_names_and_types
from ..callback_groups import ReentrantCallbackGroup
from ..client import Client
from ..node import Node
from ..service import Service
from ..subscription import Subscription
from ..task import Future
from ..timer import Timer
from .async_clock import AsyncClock

_SLICE = 0.5
"""The interval in seconds at which the waiting thread checks whether the node is gone."""


class AsyncTimer(Timer):
    """A timer of an `AsyncNode`."""


class AsyncSubscription(Subscription):
    """A subscription of an `AsyncNode`."""


class AsyncService(Service):
    """A server of an `AsyncNode`."""


class AsyncClient(Client):
    """A client of an `AsyncNode`: calls are awaited."""

    async def call(self, request: Any, timeout_sec: Optional[float] = None) -> Any:
        """Waits for the response to a request. If the wait is cancelled, the call is forgotten;
        destroying the client cancels the wait.

        Raises `TypeError` for a request of another type, `TimeoutError` after `timeout_sec`.
        """
        loop = asyncio.get_running_loop()
        answered = loop.create_future()
        call = self.call_async(request)

        def finish(future: Future) -> None:
            if answered.done():
                return
            if future.cancelled():
                answered.cancel()
            elif future.exception() is not None:
                answered.set_exception(future.exception())
            else:
                answered.set_result(future.result())

        call.add_done_callback(lambda future: loop.call_soon_threadsafe(finish, future))
        try:
            return await asyncio.wait_for(answered, timeout_sec)
        finally:
            self.remove_pending_request(call)

    async def wait_for_service(self, timeout_sec: Optional[float] = None) -> bool:
        """Waits until there is a server; returns `False` after `timeout_sec`."""
        try:
            await asyncio.wait_for(_until(self.service_is_ready), timeout_sec)
        except TimeoutError:
            return False
        return True

    def destroy(self) -> None:
        """Ends the client; calls that wait are cancelled."""
        with self._pending_lock:
            waiting = list(self._pending.values())
        for future in waiting:
            future.cancel()
        super().destroy()


async def _until(condition: Callable[[], bool]) -> None:
    """Checks a condition every few milliseconds, since changes of the graph do not wake the
    loop."""
    while not condition():
        await asyncio.sleep(0.01)


class _LoopExecutor:
    """Acts as the executor of a node: passes ready entities to a loop."""

    def __init__(self, node: 'AsyncNode') -> None:
        self._native = extension.Executor(1, 'ros')
        self._nodes: Set[Any] = {node}
        self._node = node
        self._lock = threading.Lock()
        self._early: List[Entity] = []
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._group: 'Optional[asyncio.TaskGroup]' = None
        self._busy: Set[int] = set()
        self._ended = False
        find_self = weakref.ref(self)

        def told(entity: Entity) -> None:
            living = find_self()
            if living is not None:
                living._is_ready(entity)

        self._told = told
        self._thread = threading.Thread(target=self._wait, name='rclpy-async', daemon=True)

    def start(self, loop: asyncio.AbstractEventLoop, group: 'asyncio.TaskGroup') -> None:
        with self._lock:
            self._loop, self._group = loop, group
            early, self._early = self._early, []
        for entity in early:
            self._is_ready(entity)
        self._thread.start()

    def _wait(self) -> None:
        while not self._ended:
            self._native.spin_until(lambda: self._ended, _SLICE)

    def _is_ready(self, entity: Entity) -> None:
        """Called from any thread when data of an entity waits."""
        with self._lock:
            loop = self._loop
            if loop is None:
                self._early.append(entity)
                return
        try:
            loop.call_soon_threadsafe(self._dispatch, entity)
        except RuntimeError:  # the loop is closed: there is no listener to notify
            entity._queue.withdraw()

    def _dispatch(self, entity: Entity) -> None:
        """Runs on the loop: starts the calls that may start now. One call of each entity runs at a
        time; a concurrent entity may run all of its calls at the same time."""
        if self._ended or entity._destroyed:
            return
        concurrent = getattr(entity, 'concurrent', False)
        if not concurrent and id(entity) in self._busy:
            entity._queue.withdraw()
            return
        taken = entity._queue.take()
        entity._queue.withdraw()
        if taken is None:
            return
        if not concurrent:
            self._busy.add(id(entity))
        self._spawn(self._call(entity, taken[0]))
        if concurrent:
            entity._queue.announce()

    async def _call(self, entity: Entity, data: Any) -> None:
        try:
            callback, arguments = entity._call_of(data)
            result = callback(*arguments)
            if inspect.isawaitable(result):
                result = await result
            entity._finish(data, result)
        finally:
            self._busy.discard(id(entity))
            entity._queue.announce()

    def _spawn(self, coroutine: Any) -> None:
        assert self._group is not None
        self._group.create_task(coroutine)

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> None:
        """Calls a function, or runs a coroutine function, on the loop."""

        async def call() -> None:
            result = callback(*args, **kwargs)
            if inspect.isawaitable(result):
                await result

        loop = self._loop
        if loop is not None and not self._ended:
            loop.call_soon_threadsafe(lambda: self._ended or self._spawn(call()))

    def wake(self) -> None:
        self._native.wake()

    def add_node(self, node: Any) -> bool:
        return False

    def remove_node(self, node: Any) -> None:
        node._rclpy_leave(self)

    def end(self) -> None:
        self._ended = True
        self._native.wake()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()


class AsyncNode(Node):
    """A node for asyncio: callbacks may be coroutine functions, and calls and waits are awaited.

    Callbacks of one entity run one after another, or all at the same time if the entity was made
    with `concurrent=True`. An exception of a callback ends the `async with`, or `run`, with an
    `ExceptionGroup`.
    """

    def __init__(self, node_name: str, **options: Any) -> None:
        super().__init__(node_name, **options)
        self._default_callback_group = ReentrantCallbackGroup()  # the loop orders callbacks itself
        self._clock: AsyncClock = AsyncClock._of(self._clock)
        self._rclpy_loop_executor = _LoopExecutor(self)
        self._rclpy_tasks: 'Optional[asyncio.TaskGroup]' = None
        self._rclpy_over: Optional[asyncio.Event] = None
        self._rclpy_loop: Optional[asyncio.AbstractEventLoop] = None
        self._rclpy_entered = False
        self._context.on_shutdown(self._rclpy_on_context_shutdown)

    def _rclpy_on_context_shutdown(self) -> None:
        loop = self._rclpy_loop
        if loop is None or loop.is_closed() or _running_loop() is loop:
            self.destroy_node()
        else:
            loop.call_soon_threadsafe(self.destroy_node)

    # Running in the loop.

    async def __aenter__(self) -> 'AsyncNode':
        self._rclpy_living  # noqa: B018: raises when destroyed
        if sys.version_info < (3, 11):
            raise RuntimeError('AsyncNode needs Python 3.11, whose asyncio has task groups')
        if self._rclpy_entered:
            raise RuntimeError('the node already runs: enter it, or run it, only once')
        self._rclpy_entered = True
        self._rclpy_loop, self._rclpy_over = asyncio.get_running_loop(), asyncio.Event()
        self._rclpy_tasks = asyncio.TaskGroup()
        await self._rclpy_tasks.__aenter__()
        self.executor = self._rclpy_loop_executor
        self._rclpy_loop_executor.start(self._rclpy_loop, self._rclpy_tasks)
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> Any:
        tasks = self._rclpy_tasks
        assert tasks is not None
        self.destroy_node()
        try:
            return await tasks.__aexit__(kind, error, trace)
        finally:
            self._rclpy_loop = None

    async def run(self) -> None:
        """Runs callbacks until the node is destroyed, or its context is shut down."""
        async with self:
            assert self._rclpy_over is not None
            await self._rclpy_over.wait()

    def destroy_node(self) -> None:
        """Destroys the node and everything that it made; waiting callbacks are cancelled."""
        if self._rclpy_over is not None:
            self._rclpy_over.set()
        if isinstance(self._clock, AsyncClock):
            self._clock._end()
        executor = getattr(self, '_rclpy_loop_executor', None)
        if executor is not None:
            executor.end()
        super().destroy_node()
        tasks, loop = self._rclpy_tasks, _running_loop()
        if tasks is not None and loop is not None and loop is self._rclpy_loop:
            current = asyncio.current_task()
            for task in list(tasks._tasks):
                if task is not current:
                    task.cancel()

    # Creating entities.

    def create_subscription(  # type: ignore[override]
        self, *args: Any, concurrent: bool = False, **options: Any
    ) -> Any:
        """Like `Node.create_subscription`; `concurrent` callbacks do not wait for each other."""
        return self._rclpy_made_async(
            AsyncSubscription, super().create_subscription(*args, **options), concurrent)

    def create_service(  # type: ignore[override]
        self, *args: Any, concurrent: bool = False, **options: Any
    ) -> Any:
        """Like `Node.create_service`; `concurrent` callbacks do not wait for each other."""
        service = super().create_service(*args, **options)
        return self._rclpy_made_async(AsyncService, service, concurrent)

    def create_client(self, *args: Any, **options: Any) -> Any:
        """Like `Node.create_client`; its calls are awaited."""
        return self._rclpy_made_async(AsyncClient, super().create_client(*args, **options), True)

    def create_timer(self, timer_period_sec: float, callback: Any, **options: Any) -> Any:
        """Like `Node.create_timer`; raises `RuntimeError` for a callback with two parameters."""
        for arguments in ((), (None,)):
            try:
                inspect.signature(callback).bind(*arguments)
                break
            except TypeError:
                continue
        else:
            raise RuntimeError('a timer callback takes no argument, or a TimerInfo')
        timer = super().create_timer(timer_period_sec, callback, **options)
        return self._rclpy_made_async(AsyncTimer, timer, False)

    def _rclpy_made_async(self, kind: type, entity: Any, concurrent: bool) -> Any:
        entity.__class__, entity.concurrent = kind, concurrent
        return entity

    # The graph.

    def get_action_names_and_types(self) -> Any:
        """Returns all actions with their types."""
        return get_action_names_and_types(self)

    async def wait_for_node(  # type: ignore[override]
        self, fully_qualified_node_name: str, timeout: Optional[float] = None
    ) -> bool:
        """Waits until a node exists; returns `False` after `timeout` seconds."""
        wanted = f'/{fully_qualified_node_name.lstrip("/")}'

        def is_there() -> bool:
            try:
                return wanted in self.get_fully_qualified_node_names()
            except (AttributeError, InvalidHandle):
                raise RuntimeError('the node was destroyed') from None

        try:
            await asyncio.wait_for(_until(is_there), timeout)
        except TimeoutError:
            return False
        return True


def _running_loop() -> Optional[asyncio.AbstractEventLoop]:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
