"""Message filters with the names of stock `message_filters`: they pass received messages to
registered callbacks, one at a time or in sets of messages that belong together."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)

from .cache import Cache  # noqa: E402
from .chain import Chain  # noqa: E402
from .simple_filter import SimpleFilter  # noqa: E402
from .subscriber import Subscriber  # noqa: E402
from .synchronizers import ApproximateTimeSynchronizer, TimeSynchronizer  # noqa: E402

__all__ = [
    'ApproximateTimeSynchronizer', 'Cache', 'Chain', 'SimpleFilter', 'Subscriber',
    'TimeSynchronizer',
]
