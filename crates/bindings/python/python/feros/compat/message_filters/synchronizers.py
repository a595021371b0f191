"""Sets of messages from several filters that belong together by their times."""

import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from rclpy.clock import ROSClock
from rclpy.duration import Duration

from .message_traits import TimeGetter, get_time_from_message_header, time_or_arrival
from .simple_filter import SimpleFilter

_Queue = Dict[int, Any]  # messages by their times in nanoseconds


class TimeSynchronizer(SimpleFilter):
    """Passes on one message of each input as soon as the inputs have messages with the same time.
    At most `queue_size` messages of each input wait; if there are more, the oldest message is
    dropped."""

    def __init__(
        self,
        fs: Sequence[SimpleFilter],
        queue_size: int,
        time_getter: TimeGetter = get_time_from_message_header,
    ) -> None:
        super().__init__()
        self.queue_size = queue_size
        self.time_getter = time_getter
        self.lock = threading.Lock()
        self.connectInput(fs)

    def connectInput(self, fs: Sequence[SimpleFilter]) -> None:
        """Takes the messages of filters."""
        self.queues: List[_Queue] = [{} for _ in fs]
        self.input_connections = [
            one.registerCallback(self.add, queue, index)
            for index, (one, queue) in enumerate(zip(fs, self.queues))
        ]

    def add(self, msg: Any, my_queue: _Queue, my_queue_index: Optional[int] = None) -> None:
        """Takes a message of one input. Raises `ValueError` if the message has no time."""
        time = self.time_getter(msg)
        if time is None:
            raise ValueError(f'a {type(msg).__name__} has no stamp to be synchronized by')
        with self.lock:
            self._keep(msg, my_queue, time.nanoseconds)
            common = sorted(set.intersection(*map(set, self.queues)))
            sets = [[queue.pop(stamp) for queue in self.queues] for stamp in common]
        # A callback may call `add` again.
        for messages in sets:
            self.signalMessage(*messages)

    def _keep(self, msg: Any, queue: _Queue, stamp: int) -> None:
        queue[stamp] = msg
        while len(queue) > self.queue_size:
            del queue[min(queue)]


class ApproximateTimeSynchronizer(TimeSynchronizer):
    """Passes on one message of each input if their times are less than `slop` seconds apart; for
    each new message, it looks for the nearest messages of the other inputs. Messages without a
    stamp get their time of arrival if `allow_headerless` is set; with `sync_arrival_time`, all
    messages get their time of arrival."""

    def __init__(
        self,
        fs: Sequence[SimpleFilter],
        queue_size: int,
        slop: float,
        allow_headerless: bool = False,
        sync_arrival_time: bool = False,
        time_getter: TimeGetter = get_time_from_message_header,
    ) -> None:
        super().__init__(fs, queue_size, time_getter)
        self.slop = Duration(seconds=slop)
        self.allow_headerless = allow_headerless
        self.sync_arrival_time = sync_arrival_time

    def add(self, msg: Any, my_queue: _Queue, my_queue_index: Optional[int] = None) -> None:
        """Takes a message of one input."""
        if self.sync_arrival_time:
            time: Any = ROSClock().now()
        else:
            time = time_or_arrival(
                msg, self.time_getter, self.allow_headerless, 'message_filters_approx')
        if time is None:
            return
        with self.lock:
            stamp = time.nanoseconds
            self._keep(msg, my_queue, stamp)
            found = self._nearest(stamp, my_queue) if stamp in my_queue else None
            messages = found and [queue.pop(at) for queue, at in zip(self.queues, found)]
        if messages:
            self.signalMessage(*messages)

    def _nearest(self, stamp: int, own: _Queue) -> Optional[Tuple[int, ...]]:
        """Finds one time per input, all within the slop. For the queue `own`, this is the new time
        `stamp`."""
        slop = self.slop.nanoseconds
        candidates = []
        for queue in self.queues:
            if queue is own:
                candidates.append([stamp])
                continue
            near = [at for at in queue if abs(at - stamp) <= slop]
            candidates.append(sorted(near, key=lambda at: abs(at - stamp)))
        return self._fitting(candidates, (), stamp, stamp)

    def _fitting(
        self, candidates: List[List[int]], chosen: Tuple[int, ...], low: int, high: int
    ) -> Optional[Tuple[int, ...]]:
        """Returns the first combination of candidates, nearest first, that lies within the slop."""
        if not candidates:
            return chosen
        for at in candidates[0]:
            lowest, highest = min(low, at), max(high, at)
            if highest - lowest < self.slop.nanoseconds:
                found = self._fitting(candidates[1:], (*chosen, at), lowest, highest)
                if found is not None:
                    return found
        return None
