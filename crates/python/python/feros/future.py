"""Results that come later."""

import threading


class Future:
    """A result that comes later: wait for it with an executor, await it in asyncio, or have a
    callback called."""

    __slots__ = ("_lock", "_done", "_result", "_exception", "_cancelled", "_callbacks")

    def __init__(self):
        self._lock = threading.Lock()
        self._done = False
        self._cancelled = False
        self._result = None
        self._exception = None
        self._callbacks = []

    def done(self):
        """Whether it has ended, be it by `cancel`."""
        return self._done

    def cancelled(self):
        """Whether it was given up."""
        return self._cancelled

    def result(self):
        """What came out; raises what it ended with.

        Raises `RuntimeError` where it has not ended.
        """
        if not self._done:
            raise RuntimeError("the future is not done yet: spin its node, or await it")
        if self._cancelled:
            raise RuntimeError("the future was cancelled")
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self):
        """The exception that it ended with, if it did."""
        return self._exception

    def set_result(self, result):
        """Ends it with a result; who ended it before wins."""
        self._end(result, None, False)

    def set_exception(self, exception):
        """Ends it with an exception; who ended it before wins."""
        self._end(None, exception, False)

    def cancel(self):
        """Gives it up; who ended it before wins."""
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
        """Calls `callback(future)` when it ends, on the thread that ends it; at once if it has."""
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
