"""Results that arrive later."""

import threading


class Future:
    """A result that arrives later: wait for it with an executor, await it in asyncio, or add a
    callback."""

    __slots__ = ("_lock", "_done", "_result", "_exception", "_cancelled", "_callbacks")

    def __init__(self):
        self._lock = threading.Lock()
        self._done = False
        self._cancelled = False
        self._result = None
        self._exception = None
        self._callbacks = []

    def done(self):
        """Returns whether the future has ended, even if it was cancelled."""
        return self._done

    def cancelled(self):
        """Returns whether the future was cancelled."""
        return self._cancelled

    def result(self):
        """Returns the result; raises the exception if the future ended with an exception.

        Raises `RuntimeError` if the future has not ended.
        """
        if not self._done:
            raise RuntimeError("the future is not done yet: spin its node, or await it")
        if self._cancelled:
            raise RuntimeError("the future was cancelled")
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self):
        """Returns the exception with which the future ended, or `None`."""
        return self._exception

    def set_result(self, result):
        """Ends the future with a result, unless it has already ended."""
        self._end(result, None, False)

    def set_exception(self, exception):
        """Ends the future with an exception, unless it has already ended."""
        self._end(None, exception, False)

    def cancel(self):
        """Cancels the future, unless it has already ended."""
        self._end(None, None, True)

    def _end(self, result, exception, cancelled):
        with self._lock:
            if self._done:
                return
            self._result, self._exception, self._cancelled = result, exception, cancelled
            self._done = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback):
        """Calls `callback(future)` when the future ends, on the thread that ends it; immediately if
        it has already ended."""
        with self._lock:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def __await__(self):
        if not self._done:
            import asyncio

            loop = asyncio.get_running_loop()
            waiting = loop.create_future()

            def wake():
                if not waiting.done():
                    waiting.set_result(None)

            self.add_done_callback(lambda _: loop.call_soon_threadsafe(wake))
            yield from waiting.__await__()
        return self.result()
