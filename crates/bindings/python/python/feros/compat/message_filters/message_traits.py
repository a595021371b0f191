"""The times of messages."""

from typing import Any, Callable, Optional

from rclpy.clock import ROSClock
from rclpy.logging import get_logger
from rclpy.time import Time

TimeGetter = Callable[[Any], Optional[Time]]


def get_time_from_message_header(message: Any) -> Optional[Time]:
    """Returns the stamp of the header; `None` if the message has no stamp."""
    stamp = getattr(getattr(message, 'header', None), 'stamp', None)
    if stamp is None or hasattr(stamp, 'nanoseconds'):
        return stamp
    return Time.from_msg(stamp)


def time_or_arrival(
    message: Any, time_getter: TimeGetter, allow_headerless: bool, logger_name: str
) -> Optional[Time]:
    """Returns the time of a message. For a message without a time, the result is the current time,
    if that is allowed; otherwise a warning about the dropped message is logged, and the result is
    `None`."""
    time = time_getter(message)
    if time is not None:
        return time
    if allow_headerless:
        return ROSClock().now()
    get_logger(logger_name).warning(
        f'A {type(message).__name__} without a stamp is dropped: allow_headerless=True gives such'
        ' messages the time of their arrival.', throttle_duration_sec=10.0)
    return None
