"""The messages of a topic, in the order of their arrival."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar

from feros.qos import Durability, History, Liveliness, QoSProfile, Reliability
from feros.testing import _graph
from feros.testing._waiting import TIMEOUT, Waiting

if TYPE_CHECKING:
    from feros.endpoints import Subscription
    from feros.node import Node

M = TypeVar("M")

MOST_MESSAGES = 10_000
"""How many messages wait for the test. A further message replaces the oldest."""

_DEPTH = 1000


class Messages(Generic[M]):
    """The messages of a topic since the test began to listen.

    Without `qos`, the subscription follows the policies of the publishers until the first message:
    it is best effort if one publisher is, and transient local (with earlier messages) if all are.
    """

    def __init__(
        self, node: Node, waiting: Waiting, topic: str, cls: type[M],
        qos: int | QoSProfile | None = None,
    ) -> None:
        self._node, self._waiting, self._cls = node, waiting, cls
        self._messages: deque[M] = deque(maxlen=MOST_MESSAGES)
        self._count = self._dropped = 0
        self._last: M | None = None
        self._follows = qos is None
        self._made = 0
        self._offered = (Reliability.RELIABLE, Durability.VOLATILE)
        self.topic = node.resolve_topic_name(topic)
        self._subscription = self._subscribe(_policies(*self._offered) if qos is None else qos)

    @property
    def count(self) -> int:
        """How many messages have come so far."""
        return self._count

    @property
    def dropped(self) -> int:
        """How many messages were dropped because the test did not take them in time."""
        with self._waiting.changed:
            return self._dropped

    def take_all(self) -> list[M]:
        """Takes and returns the messages that wait for the test, without waiting for more."""
        self._follow()
        with self._waiting.changed:
            taken = list(self._messages)
            self._messages.clear()
        return taken

    def expect(self, timeout: float = TIMEOUT, where: Callable[[M], object] | None = None) -> M:
        """Takes and returns the next message for which `where(message)` is true, and drops the
        messages before it.

        Raises `NotInTime` if no such message comes within `timeout` seconds.
        """
        refused = 0

        def look() -> tuple[M] | None:
            nonlocal refused
            self._follow()
            while (taken := self._take()) is not None:
                if where is None or where(taken[0]):
                    return taken
                refused += 1
            return None

        return self._waiting.until(look, timeout, lambda: self._missing(refused))[0]

    def _take(self) -> tuple[M] | None:
        with self._waiting.changed:
            if not self._messages:
                return None
            self._last = self._messages.popleft()
            return (self._last,)

    def _subscribe(self, qos: int | QoSProfile) -> Subscription[Any]:
        self._made += 1
        number = self._made

        def at_message(message: M) -> None:
            with self._waiting.changed:
                if number != self._made:
                    return  # the message is of a subscription that was replaced
                self._dropped += len(self._messages) == MOST_MESSAGES
                self._messages.append(message)
                self._count += 1
                self._waiting.changed.notify_all()

        # A view would become invalid when the context ends.
        return self._node.create_subscription(
            self._cls, self.topic, at_message, qos, views=False)

    def _follow(self) -> None:
        """Subscribes anew if the publishers offer less, or keep earlier messages."""
        if not self._follows or self._count:
            return
        offers = [one["qos"] for one in self._node.publishers_info(self.topic)]
        if not offers:
            return
        is_reliable = all(offer[_graph.RELIABILITY] == Reliability.RELIABLE for offer in offers)
        keeps = all(offer[_graph.DURABILITY] == Durability.TRANSIENT_LOCAL for offer in offers)
        offered = (
            Reliability.RELIABLE if is_reliable else Reliability.BEST_EFFORT,
            Durability.TRANSIENT_LOCAL if keeps else Durability.VOLATILE)
        if offered != self._offered:
            self._offered = offered
            earlier = self._subscription
            self._subscription = self._subscribe(_policies(*offered))
            earlier.destroy()

    def _missing(self, refused: int) -> str:
        what = f"no message of {self.topic}"
        if refused:
            return f"{what} was accepted: {refused} came, the last was {self._last!r:.500}"
        found = _graph.publishers(self._node, self.topic)
        name = self._cls._feros_name  # type: ignore[attr-defined]
        if not found:
            known = self._node.topic_names_and_types()
            return f"{what}, which has no publisher{_graph.similar(self.topic, known)}"
        others = sorted({one["topic_type"] for one in found} - {name})
        if others:
            return f"{what} of the type {name}: its publishers have the type {', '.join(others)}"
        return f"{what}, which has the publishers {_graph.described(found)}"


def _policies(reliability: Reliability, durability: Durability) -> QoSProfile:
    return QoSProfile(
        _DEPTH, history=History.KEEP_LAST, reliability=reliability, durability=durability,
        liveliness=Liveliness.SYSTEM_DEFAULT)
