"""Executors. They wait without the interpreter lock, and run one callback after another.

Entities add themselves to a queue when they are ready, so that idle entities cost nothing.
"""

import inspect
import os
import threading
import time
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from types import CoroutineType
from typing import Any, Callable, Deque, Iterator, List, Optional, Set, Tuple, Union

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from ._entity import Entity
from ._native import extension
from .context import Context
from .task import Future, Task
from .utilities import get_default_context

Ready = Tuple[Task, Optional[Entity], Any]
Claim = Tuple[Optional[Task], Any, Any, Any]
"""A task to continue; or an entity, the entity's node, and the data for the callback."""


class TimeoutException(Exception):
    """No callback became ready in time."""


class ShutdownException(Exception):
    """The executor was shut down."""


class ExternalShutdownException(Exception):
    """The context was shut down from outside, for example by a signal."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)


class ConditionReachedException(Exception):
    """The condition of a wait is true."""


class TimeoutObject:
    """A time limit that several waits share."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout

    @property
    def timeout(self) -> float:
        """The remaining time, in seconds."""
        return self._timeout

    @timeout.setter
    def timeout(self, timeout: float) -> None:
        self._timeout = timeout


async def await_or_execute(callback: Callable[..., Any], *args: Any) -> Any:
    """Returns the result of a function or coroutine function."""
    if inspect.iscoroutinefunction(callback):
        return await callback(*args)
    return callback(*args)


class _Own(threading.local):
    """The number of callbacks of an executor that the current thread is running, nested in one
    another."""

    depth = 0


class Executor:
    """The base class of `SingleThreadedExecutor` and `MultiThreadedExecutor`, which run the
    callbacks of their nodes."""

    def __init__(self, *, context: Optional[Context] = None) -> None:
        self._context = get_default_context() if context is None else context
        self._native = extension.Executor(1, 'ros')
        self._nodes: Set[Any] = set()
        self._nodes_lock = threading.RLock()
        self._ready = self._native.ready
        self._told = self._ready  # the recipient that entities with waiting data notify
        self._tasks: Deque[Task] = deque()
        self._sources: 'weakref.WeakKeyDictionary[Task, Tuple[Entity, Any]]' = (
            weakref.WeakKeyDictionary()
        )
        self._sleeping: Set[Task] = set()
        self._is_shutdown = False
        self._running = 0
        self._idle = threading.Condition()
        self._own = _Own()
        self._context.on_shutdown(self.wake)

    @property
    def context(self) -> Context:
        """The context, whose shutdown ends the spinning."""
        return self._context

    # Ready tasks. `_tasks` needs no lock, since each operation on it is atomic in Python.

    def _resume(self, task: Task) -> None:
        self._sleeping.discard(task)
        self._tasks.append(task)
        self._native.wake()

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> Task:
        """Runs a function, a coroutine function or a coroutine while the executor spins."""
        task: Task = Task(callback, args, kwargs, executor=self)
        self._resume(task)
        return task

    def create_future(self) -> Future:
        """Returns a future whose callbacks this executor runs."""
        return Future(executor=self)

    def wake(self) -> None:
        """Makes the waiting thread check again what is ready. May be called from any thread."""
        self._native.wake()

    # Nodes.

    def add_node(self, node: Any) -> bool:
        """Runs the callbacks of a node from now on; returns `False` if the executor already runs
        them."""
        with self._nodes_lock:
            if self._is_shutdown:
                raise ShutdownException()
            if node in self._nodes:
                return False
            self._nodes.add(node)
        node.executor = self
        self.wake()
        return True

    def remove_node(self, node: Any) -> None:
        """Stops running the callbacks of a node."""
        with self._nodes_lock:
            if node not in self._nodes:
                return
            self._nodes.discard(node)
        node._rclpy_leave(self)
        self.wake()

    def get_nodes(self) -> List[Any]:
        """Returns the nodes."""
        with self._nodes_lock:
            return list(self._nodes)

    def shutdown(self, timeout_sec: Optional[float] = None) -> bool:
        """Ends spinning; returns whether the running callbacks ended within `timeout_sec`."""
        self._is_shutdown = True
        self.wake()
        limit = None if timeout_sec is None or timeout_sec < 0 else timeout_sec
        own = self._own.depth  # a callback may end its own executor
        with self._idle:
            if not self._idle.wait_for(lambda: self._running <= own, limit):
                return False
        for node in self.get_nodes():
            self.remove_node(node)
        return True

    # Spinning.

    def spin(self) -> None:
        """Runs callbacks until the executor or its context is shut down."""
        while self._context.ok() and not self._is_shutdown:
            self.spin_once()

    def spin_until_future_complete(
        self, future: Future, timeout_sec: Optional[float] = None
    ) -> None:
        """Runs callbacks until a future is done or canceled, or the timeout passes."""
        future.add_done_callback(lambda _: self.wake())
        end = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        while self._context.ok() and future._pending() and not self._is_shutdown:
            left = None if end is None else max(end - time.monotonic(), 0.0)
            self._spin_once_until_future_complete(future, left)
            if end is not None and time.monotonic() >= end:
                return

    def spin_once(self, timeout_sec: Optional[float] = None) -> None:
        """Runs one callback; waits at most `timeout_sec` for a ready callback, or forever with
        `None`."""
        self._spin_once_impl(timeout_sec)

    def spin_once_until_future_complete(
        self, future: Future, timeout_sec: Optional[Union[float, TimeoutObject]] = None
    ) -> None:
        """Runs one callback, or no callback if the future is done before a callback is ready."""
        future.add_done_callback(lambda _: self.wake())
        self._spin_once_until_future_complete(future, timeout_sec)

    def _spin_once_until_future_complete(
        self, future: Future, timeout_sec: Optional[Union[float, TimeoutObject]] = None
    ) -> None:
        self._spin_once_impl(timeout_sec, lambda: not future._pending())

    def _spin_once_impl(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]] = None,
        wait_condition: Callable[[], bool] = lambda: False,
    ) -> None:
        """Runs one callback; also ends when the condition is true."""
        raise NotImplementedError()

    # Choosing the next callback.

    def can_execute(self, entity: Entity) -> bool:
        """Returns whether the group of an entity lets it run now."""
        group = entity.callback_group
        return group is None or group.can_execute(entity)

    def _claim(self, nodes: Optional[List[Any]]) -> Optional[Claim]:
        """Returns the next task or entity that can run, or `None`. The entity is claimed in its
        callback group."""
        if self._tasks:
            try:
                task = self._tasks.popleft()
            except IndexError:  # another thread took it first
                return None
            entity, node = self._sources.get(task, (None, None))
            return task, entity, node, None
        for _ in range(len(self._ready)):
            entity = self._ready.pop()
            if entity is None:  # another thread took it first
                return None
            claim = self._claim_of(entity, nodes)
            if claim is not None:
                return claim
        return None

    def _claim_of(
        self,
        entity: Entity,
        nodes: Optional[List[Any]],
        held_back: Optional[List[Entity]] = None,
    ) -> Optional[Claim]:
        """Claims an entity. An entity that may not run now goes to `held_back`, or back into the
        queue."""
        node = entity._find_node()
        if node is None or entity._destroyed or node._rclpy_executor() is not self:
            entity._queue.withdraw()
            return None
        group = entity.callback_group
        elsewhere = nodes is not None and node not in nodes
        if elsewhere or (group is not None and not group.beginning_execution(entity)):
            if held_back is None:
                self._ready.put_back(entity, entity._queue)  # to be tried later
            else:
                held_back.append(entity)
            return None
        taken = entity._queue.take_queued()
        if taken is None:
            if group is not None:
                group.ending_execution(entity)
            return None
        data, has_more = taken
        if has_more:
            self._ready.put_back(entity, entity._queue)
        return None, entity, node, data

    def _make_task(self, claim: Claim) -> Task:
        """Makes a task that runs the callback of an entity, for executors that pass it to another
        thread."""
        _, entity, node, data = claim
        callback, arguments = entity._call_of(data)

        async def handler() -> None:
            try:
                result = callback(*arguments)
                if inspect.iscoroutine(result):
                    result = await result
                left = entity._finish(data, result)
                if left is not None:
                    await left
            finally:
                self._end_of(entity)

        task: Task = Task(handler, executor=self)
        self._sources[task] = (entity, node)
        return task

    def _end_of(self, entity: Entity) -> None:
        if entity.callback_group is not None:
            entity.callback_group.ending_execution(entity)
        if self._ready:
            self.wake()  # an entity of the same group may be ready now

    def wait_for_ready_callbacks(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]] = None,
        nodes: Optional[List[Any]] = None,
        condition: Optional[Callable[[], bool]] = None,
    ) -> Ready:
        """Returns the next task to run, with its entity and node.

        Raises `TimeoutException`, `ShutdownException`, `ExternalShutdownException`, or
        `ConditionReachedException` if `condition()` is true.
        """
        claim = self._wait_for_claim(timeout_sec, nodes, condition)
        task = claim[0] or self._make_task(claim)
        return task, claim[1], claim[2]

    def _wait_for_claim(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]],
        nodes: Optional[List[Any]],
        condition: Optional[Callable[[], bool]],
    ) -> Claim:
        if isinstance(timeout_sec, TimeoutObject):
            timeout_sec = timeout_sec.timeout
        forever = timeout_sec is None or timeout_sec < 0
        end = 0.0 if forever else time.monotonic() + timeout_sec
        looked = False
        while True:
            if self._is_shutdown:
                raise ShutdownException()
            if not self._context.ok():
                raise ExternalShutdownException()
            if condition is not None and condition():
                raise ConditionReachedException()
            claim = self._claim(nodes)
            if claim is not None:
                return claim
            left = None if forever else end - time.monotonic()
            if left is not None and left <= 0:
                if looked:
                    raise TimeoutException()
                looked = True
                self._native.spin_some()
                continue
            self._native.wait(left)

    def _wait_for_ready_callbacks(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]] = None,
        nodes: Optional[List[Any]] = None,
        condition: Optional[Callable[[], bool]] = None,
    ) -> Iterator[Ready]:
        """Returns the tasks to run, one after another, as `wait_for_ready_callbacks` finds them."""
        while True:
            yield self.wait_for_ready_callbacks(timeout_sec, nodes, condition)

    def _run(self, task: Task) -> None:
        """Runs a task up to its next wait; raises its exception."""
        self._begin_callback()
        try:
            task()
        finally:
            self._end_callback()
        if task._pending():
            self._sleeping.add(task)
            waits_for = task._waits_for
            if waits_for is None:
                self._resume(task)
            else:
                waits_for._resume_when_done(lambda: self._resume(task))
            return
        if task.exception() is not None:
            raise task.exception()

    def _call(self, claim: Claim) -> None:
        """Runs a claimed task or callback. A callback that does not wait needs no task."""
        task, entity, node, data = claim
        if task is not None:
            self._run(task)
            return
        rest: Optional[Task] = None
        self._begin_callback()
        try:
            callback, arguments = entity._call_of(data)
            result = callback(*arguments)
            if type(result) is CoroutineType:
                rest = Task(self._rest_of, (entity, data, result), executor=self)
                self._sources[rest] = (entity, node)
            else:
                entity._finish(data, result)
        finally:
            if rest is None:
                self._end_of(entity)
            self._end_callback()
        if rest is not None:
            self._run(rest)

    def _go_on(self, entity: Entity, data: Any, result: Any) -> None:
        """Completes a callback that returned something other than `None`."""
        if type(result) is CoroutineType:
            rest: Task = Task(self._rest_of, (entity, data, result), executor=self)
            self._sources[rest] = (entity, entity._find_node())
            self._run(rest)
            return
        try:
            entity._finish(data, result)
        finally:
            self._end_of(entity)

    async def _rest_of(self, entity: Entity, data: Any, coroutine: Any) -> None:
        try:
            left = entity._finish(data, await coroutine)
            if left is not None:
                await left
        finally:
            self._end_of(entity)

    def _begin_callback(self) -> None:
        self._own.depth += 1
        with self._idle:
            self._running += 1

    def _end_callback(self) -> None:
        self._own.depth -= 1
        with self._idle:
            self._running -= 1
            if self._is_shutdown:
                self._idle.notify_all()

    def __enter__(self) -> 'Executor':
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()


class SingleThreadedExecutor(Executor):
    """Runs callbacks on the thread that spins."""

    def _spin_once_impl(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]] = None,
        wait_condition: Optional[Callable[[], bool]] = None,
    ) -> None:
        # The callback counts as begun here, so that little work remains between a message and its
        # callback.
        self._begin_callback()
        held_back: List[Entity] = []
        try:
            self._step(timeout_sec, wait_condition, held_back)
        finally:
            if held_back:
                self._put_back(held_back)
            self._end_callback()

    def _put_back(self, held_back: List[Entity]) -> None:
        while held_back:
            entity = held_back.pop(0)
            self._ready.put_back(entity, entity._queue)

    def _step(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]],
        condition: Optional[Callable[[], bool]],
        held_back: List[Entity],
    ) -> None:
        """Runs one callback. Entities whose groups do not let them run go to `held_back`."""
        if isinstance(timeout_sec, TimeoutObject):
            timeout_sec = timeout_sec.timeout
        forever = timeout_sec is None or timeout_sec < 0
        end = 0.0 if forever else time.monotonic() + timeout_sec
        looked = False
        while not self._is_shutdown:
            if not self._context.ok():
                raise ExternalShutdownException()
            if condition is not None and condition():
                return
            if self._tasks:
                claim = self._claim(None)
                if claim is not None:
                    self._call(claim)
                    return
                continue
            left = None if forever else max(end - time.monotonic(), 0.0)
            if left == 0.0:
                self._native.spin_some()
            came = self._native.wait_and_call(left)
            if came is True:
                return
            if came is False:
                if left == 0.0:
                    if looked:
                        return
                    looked = True
                self._put_back(held_back)  # another callback of the group may have ended
            elif type(came) is tuple:
                self._go_on(*came)
                return
            else:
                claim = self._claim_of(came, None, held_back)
                if claim is not None:
                    self._call(claim)
                    return


class MultiThreadedExecutor(Executor):
    """Runs callbacks on its own threads, while the spinning thread waits."""

    def __init__(
        self, num_threads: Optional[int] = None, *, context: Optional[Context] = None
    ) -> None:
        super().__init__(context=context)
        if num_threads is None:
            num_threads = max(len(os.sched_getaffinity(0)), 2)
        self._threads = ThreadPoolExecutor(num_threads, thread_name_prefix='rclpy')
        self._failed: Deque[BaseException] = deque()

    def _work(self, task: Task) -> None:
        try:
            self._run(task)
        except BaseException as error:  # the spinning thread raises it
            self._failed.append(error)
            self.wake()

    def _spin_once_impl(
        self,
        timeout_sec: Optional[Union[float, TimeoutObject]] = None,
        wait_condition: Callable[[], bool] = lambda: False,
    ) -> None:
        def is_over() -> bool:
            return bool(self._failed) or wait_condition()

        try:
            task, _, _ = self.wait_for_ready_callbacks(timeout_sec, None, is_over)
            self._threads.submit(self._work, task)
        except (ShutdownException, TimeoutException, ConditionReachedException):
            pass
        if self._failed:
            raise self._failed.popleft()

    def shutdown(
        self, timeout_sec: Optional[float] = None, *, wait_for_threads: bool = True
    ) -> bool:
        """Ends spinning and, with `wait_for_threads`, waits for the threads."""
        done = super().shutdown(timeout_sec)
        inside = self._own.depth  # a thread cannot wait for itself
        self._threads.shutdown(wait=wait_for_threads and done and not inside)
        return done


__getattr__ = reexports(__name__)
