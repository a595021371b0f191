"""Several filters in a row, as one filter."""

from typing import Any, List, Optional, Tuple

from .simple_filter import SimpleFilter


class Chain(SimpleFilter):
    """Passes messages to its first filter, and passes on the messages of its last filter. Without
    filters, it passes on all messages."""

    def __init__(self, message_filter: Optional[SimpleFilter] = None) -> None:
        super().__init__()
        self.incoming_connection: Optional[int] = None
        # Each filter, with the number of the callback that it calls for the next filter or for the
        # chain.
        self._filters: List[Tuple[Any, int]] = []
        if message_filter is not None:
            self.connectInput(message_filter)

    def connectInput(self, message_filter: SimpleFilter) -> None:
        """Takes the messages of a filter; raises `RuntimeError` if a filter is already
        connected."""
        if self.incoming_connection is not None:
            raise RuntimeError('Already connected')
        self.incoming_connection = message_filter.registerCallback(self.add)

    def add(self, message: Any) -> None:
        """Takes a message."""
        if self._filters:
            self._filters[0][0].add(message)
        else:
            self.signalMessage(message)

    def addFilter(self, message_filter: Any) -> None:
        """Adds a filter at the end."""
        if self._filters:
            last, connection = self._filters[-1]
            last.unregisterCallback(connection)
            self._filters[-1] = (last, last.registerCallback(message_filter.add))
        connection = message_filter.registerCallback(self.signalMessage)
        self._filters.append((message_filter, connection))

    def getFilter(self, index: int) -> Any:
        """Returns the filter with an index; raises `IndexError` if there is no such filter."""
        return self._filters[index][0]
