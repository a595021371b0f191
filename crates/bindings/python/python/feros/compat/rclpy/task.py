"""Results that arrive later, and callbacks that may wait for them."""

import inspect
import sys
import threading
import warnings
import weakref
from enum import Enum
from typing import Any, Callable, Dict, Generator, Generic, List, Optional, Tuple, TypeVar

T = TypeVar('T')


class FutureState(Enum):
    """The state of a future."""

    PENDING = 'PENDING'
    CANCELLED = 'CANCELLED'
    FINISHED = 'FINISHED'


_stepping = threading.local()  # whether a task of an executor runs its coroutine on this thread


def _no_executor() -> None:
    return None


class Future(Generic[T]):
    """A result that will be set later; callbacks and coroutines can wait for it."""

    def __init__(self, *, executor: Any = None) -> None:
        self._state = FutureState.PENDING
        self._result: Optional[T] = None
        self._exception: Optional[BaseException] = None
        self._exception_fetched = False
        self._callbacks: List[Callable[['Future[T]'], None]] = []
        self._resumptions: List[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._executor: Callable[[], Any] = _no_executor
        self._set_executor(executor)

    def __del__(self) -> None:
        if self._exception is not None and not self._exception_fetched:
            print(
                f'The following exception was never retrieved: {self._exception}', file=sys.stderr
            )

    def __await__(self) -> Generator[Any, None, Optional[T]]:
        while self._pending():
            if getattr(_stepping, 'is_task', False):
                yield self  # the executor resumes the waiter only when the future is done
            else:
                yield from self._awaited_elsewhere()
        return self.result()

    def _awaited_elsewhere(self) -> Generator[Any, None, None]:
        """Waits in a coroutine that is not run by a task of an executor, but by asyncio or by a
        script."""
        asyncio = sys.modules.get('asyncio')
        loop = None if asyncio is None else asyncio._get_running_loop()
        if loop is None:
            yield
            return
        waiter = loop.create_future()

        def wake() -> None:
            if not waiter.done():
                waiter.set_result(None)

        def done() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(wake)

        self._resume_when_done(done)
        yield from waiter

    def _pending(self) -> bool:
        return self._state is FutureState.PENDING

    def cancel(self) -> None:
        """Ends the wait without a result; does nothing if the future is done."""
        with self._lock:
            if not self._pending():
                return
            self._state = FutureState.CANCELLED
        self._run_done_callbacks()

    def cancelled(self) -> bool:
        """Returns whether the future was cancelled."""
        return self._state is FutureState.CANCELLED

    def done(self) -> bool:
        """Returns whether the future has a result or an exception."""
        return self._state is FutureState.FINISHED

    def result(self) -> Optional[T]:
        """Returns the result, or `None` if the future is not done; raises the exception if one was
        set."""
        exception = self.exception()
        if exception is not None:
            raise exception
        return self._result

    def exception(self) -> Optional[BaseException]:
        """Returns the exception that was set, if any."""
        self._exception_fetched = True
        return self._exception

    def set_result(self, result: T) -> None:
        """Finishes with a result."""
        with self._lock:
            self._result = result
            self._state = FutureState.FINISHED
        self._run_done_callbacks()

    def set_exception(self, exception: BaseException) -> None:
        """Finishes with an exception."""
        with self._lock:
            self._exception = exception
            self._exception_fetched = False
            self._state = FutureState.FINISHED
        self._run_done_callbacks()

    def _run_done_callbacks(self) -> None:
        with self._lock:
            executor = self._executor()
            callbacks, self._callbacks = self._callbacks, []
            resumptions, self._resumptions = self._resumptions, []
        for resume in resumptions:
            resume()
        for callback in callbacks:
            if executor is not None:
                executor.create_task(callback, self)
                continue
            try:
                callback(self)
            except Exception as error:  # the other callbacks still have to be called
                warnings.warn(f'Unhandled exception in done callback: {error}')

    def _resume_when_done(self, resume: Callable[[], None]) -> None:
        """Makes an executor resume a waiting task when this future is done; immediately if it
        already is."""
        with self._lock:
            if self._pending():
                self._resumptions.append(resume)
                return
        resume()

    def _set_executor(self, executor: Any) -> None:
        with self._lock:
            self._executor = _no_executor if executor is None else weakref.ref(executor)

    def add_done_callback(self, callback: Callable[['Future[T]'], None]) -> None:
        """Calls `callback` with this future when it is done; immediately if it already is."""
        with self._lock:
            if self._pending():
                self._callbacks.append(callback)
                return
            executor = self._executor()
        if executor is not None:
            executor.create_task(callback, self)
        else:
            callback(self)

    def remove_done_callback(self, callback: Callable[['Future[T]'], None]) -> bool:
        """Forgets a callback; returns `False` if it was not added."""
        with self._lock:
            if callback not in self._callbacks:
                return False
            self._callbacks.remove(callback)
            return True


class Task(Future[T]):
    """A function or coroutine that an executor runs; made by `Executor.create_task`."""

    def __init__(
        self,
        handler: Callable[..., Any],
        args: Optional[Tuple[Any, ...]] = None,
        kwargs: Optional[Dict[str, Any]] = None,
        executor: Any = None,
    ) -> None:
        super().__init__(executor=executor)
        self._args: Optional[Tuple[Any, ...]] = args or ()
        self._kwargs: Optional[Dict[str, Any]] = kwargs or {}
        self._handler: Any = handler
        if inspect.iscoroutinefunction(handler):
            self._handler = handler(*self._args, **self._kwargs)
            self._args = self._kwargs = None
        self._executing = False
        self._task_lock = threading.Lock()
        self._waits_for: Optional[Future[Any]] = None

    def __call__(self) -> None:
        """Runs the function, or the coroutine up to its next wait."""
        if not self._pending() or self._executing:
            return
        if not self._task_lock.acquire(blocking=False):
            return
        try:
            if self._pending():
                self._executing = True
                self._step()
                self._executing = False
        finally:
            self._task_lock.release()

    def _step(self) -> None:
        try:
            if inspect.iscoroutine(self._handler):
                waits_for = self._sent()
                self._waits_for = waits_for if isinstance(waits_for, Future) else None
                return
            result = self._handler(*self._args, **self._kwargs)
        except StopIteration as end:
            result = end.value
        except Exception as error:
            self.set_exception(error)
            self._release()
            return
        self.set_result(result)
        self._release()

    def _sent(self) -> Any:
        outer, _stepping.is_task = getattr(_stepping, 'is_task', False), True
        try:
            return self._handler.send(None)
        finally:
            _stepping.is_task = outer

    def _release(self) -> None:
        self._handler = self._args = self._kwargs = self._waits_for = None

    def executing(self) -> bool:
        """Returns whether a thread is running the task now."""
        return self._executing

    def cancel(self) -> None:
        """Ends the task at the point where it currently waits."""
        if self._pending() and inspect.iscoroutine(self._handler):
            self._handler.close()
        super().cancel()
