"""Keeps the newest messages, and finds them by their times."""

from typing import Any, List, Optional

from rclpy.time import Time

from .message_traits import TimeGetter, get_time_from_message_header, time_or_arrival
from .simple_filter import SimpleFilter


class Cache(SimpleFilter):
    """Keeps the last `cache_size` messages, and passes them on."""

    def __init__(
        self,
        f: Optional[SimpleFilter] = None,
        cache_size: int = 1,
        allow_headerless: bool = False,
        time_getter: TimeGetter = get_time_from_message_header,
    ) -> None:
        super().__init__()
        self.cache_size = cache_size
        self.allow_headerless = allow_headerless
        self.time_getter = time_getter
        self.cache_msgs: List[Any] = []
        self.cache_times: List[Time] = []
        if f is not None:
            self.connectInput(f)

    def connectInput(self, f: SimpleFilter) -> None:
        """Takes the messages of a filter."""
        self.incoming_connection = f.registerCallback(self.add)

    def add(self, msg: Any) -> None:
        """Takes a message."""
        time = time_or_arrival(
            msg, self.time_getter, self.allow_headerless, 'message_filters_cache')
        if time is None:
            return
        self.cache_msgs.append(msg)
        self.cache_times.append(time)
        if len(self.cache_msgs) > self.cache_size:
            del self.cache_msgs[0], self.cache_times[0]
        self.signalMessage(msg)

    def getInterval(self, from_stamp: Time, to_stamp: Time) -> List[Any]:
        """Returns the messages between two times, both included, in the order of arrival."""
        assert from_stamp <= to_stamp
        return [
            msg for msg, time in zip(self.cache_msgs, self.cache_times)
            if from_stamp <= time <= to_stamp
        ]

    def getElemAfterTime(self, stamp: Time) -> Any:
        """Returns the first message, in order of arrival, whose time is this time or later; or
        `None`."""
        pairs = zip(self.cache_msgs, self.cache_times)
        return next((msg for msg, time in pairs if time >= stamp), None)

    def getElemBeforeTime(self, stamp: Time) -> Any:
        """Returns the last message, in order of arrival, whose time is this time or earlier; or
        `None`."""
        pairs = zip(reversed(self.cache_msgs), reversed(self.cache_times))
        return next((msg for msg, time in pairs if time <= stamp), None)

    def getLastestTime(self) -> Optional[Time]:
        """Returns the time of the message that arrived last."""
        return self.cache_times[-1] if self.cache_times else None

    getLatestTime = getLastestTime

    def getOldestTime(self) -> Optional[Time]:
        """Returns the time of the stored message that arrived first."""
        return self.cache_times[0] if self.cache_times else None

    def getLast(self) -> Any:
        """Returns the first message whose time is not before the time of the message that arrived
        last; `None` if there is no such message."""
        latest = self.getLastestTime()
        return None if latest is None else self.getElemAfterTime(latest)
