"""The source of filters: a topic."""

from typing import Any

from .simple_filter import SimpleFilter


class Subscriber(SimpleFilter):
    """Passes on the messages of a topic: `Subscriber(node, msg_type, topic, **kwargs)`, where the
    arguments are those of `Node.create_subscription`. Attributes that this object does not have are
    looked up in its subscription."""

    def __init__(self, node: Any, msg_type: Any, topic: str, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.node = node
        self.topic = topic
        if not args:
            kwargs.setdefault('qos_profile', 10)
        self.sub = node.create_subscription(msg_type, topic, self.callback, *args, **kwargs)

    def callback(self, msg: Any) -> None:
        """Passes a message on."""
        self.signalMessage(msg)

    def getTopic(self) -> str:
        """Returns the topic, as given."""
        return self.topic

    def __getattr__(self, name: str) -> Any:
        if name == 'sub':  # `__init__` has not made the subscription
            raise AttributeError(name)
        return getattr(self.sub, name)
