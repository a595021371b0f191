"""Waits in asyncio. Each event loop watches one file descriptor, which the Rust side makes readable
without taking the interpreter lock."""

import asyncio
import contextlib
import weakref

from feros import _feros

_loops = weakref.WeakKeyDictionary()


class LoopWakeups:
    """The waits of one event loop."""

    def __init__(self, loop):
        self.wakeups = _feros.Wakeups()
        self._waiting = {}
        self._next = 0
        loop.add_reader(self.wakeups.fileno(), self._wake)

    def new_token(self):
        """Returns a number that identifies a waiting task."""
        self._next += 1
        return self._next

    def _wake(self):
        for token in self.wakeups.take():
            waiting = self._waiting.pop(token, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    async def wait(self, token, timeout=None):
        """Waits until the Rust side wakes the task with this token, for at most `timeout`
        seconds."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[token] = waiting
        try:
            await (waiting if timeout is None else asyncio.wait((waiting,), timeout=timeout))
        finally:
            self._waiting.pop(token, None)


def wakeups_of_loop():
    """Returns the `LoopWakeups` of the running loop, and creates it at the first call."""
    loop = asyncio.get_running_loop()
    found = _loops.get(loop)
    if found is None:
        found = _loops[loop] = LoopWakeups(loop)
    return found


async def response(call):
    """Returns the response to a call."""
    wakeups = wakeups_of_loop()
    token = wakeups.new_token()
    try:
        while True:
            # `poll` registers the token before it checks, so an arrival during the poll wakes this
            # task.
            found = call.poll(wakeups.wakeups, token)
            if found is not None:
                return found
            await wakeups.wait(token)
    except asyncio.CancelledError:
        call.cancel()
        raise


async def graph(node, condition, timeout, what):
    """Waits until `condition()` is true, and checks it again after each change of the graph."""
    wakeups, loop = wakeups_of_loop(), asyncio.get_running_loop()
    token = wakeups.new_token()
    end = None if timeout is None or timeout < 0 else loop.time() + timeout
    while True:
        # The listener is made before the check, so that a change during the check still wakes this
        # task.
        listener = node._node.listen_to_graph(wakeups.wakeups, token)
        if condition():
            return
        if not node.context.ok():
            raise _feros.ShutdownError(f"the context was shut down while waiting for {what}")
        left = None if end is None else end - loop.time()
        if left is not None and left <= 0:
            raise TimeoutError(
                f"{what} did not appear {_feros.within(timeout)}; is it running in the same domain?"
                " `feros doctor` helps"
            )
        await wakeups.wait(token, left)
        del listener


async def found_by_subscriptions(publisher, count):
    """Waits until the matched subscriptions can receive messages, as the extension's publisher
    does."""
    # A subscription may have left again. The remaining subscriptions can receive messages
    # nevertheless.
    with contextlib.suppress(TimeoutError):
        await asyncio.to_thread(publisher.wait_for_subscriptions, count, 0)


class Stream:
    """The messages of a subscription, one after another: `async for message in stream`."""

    def __init__(self, inbox, context, with_info):
        self._inbox = inbox
        self._context = context
        self._with_info = with_info
        self._token = None

    def __aiter__(self):
        return self

    async def __anext__(self):
        wakeups = wakeups_of_loop()
        if self._token is None:
            self._token = wakeups.new_token()
        while True:
            if self._inbox is None:
                raise StopAsyncIteration
            found = self._inbox.take(wakeups.wakeups, self._token)
            if found is not None:
                return found if self._with_info else found[0]
            if not self._context.ok():
                raise StopAsyncIteration
            await wakeups.wait(self._token)

    async def next(self):
        """Returns the next message.

        Raises `ShutdownError` if the context was shut down or the stream was closed.
        """
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise _feros.ShutdownError("the stream has ended: no further messages arrive") from None

    @property
    def dropped_messages(self):
        """The number of messages that were dropped because they were not taken in time."""
        return 0 if self._inbox is None else self._inbox.dropped_messages

    def close(self):
        """Ends the subscription."""
        self._inbox = None

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()
