"""Where filters get messages from: a topic."""

from typing import Any

from .simple_filter import SimpleFilter


class Subscriber(SimpleFilter):
    """Tells what is heard on a topic: `Subscriber(node, msg_type, topic, **kwargs)`, where the
    arguments are those of `Node.create_subscription`. What it does not have itself, its
    subscription has."""

    def __init__(self, node: Any, msg_type: Any, topic: str, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.node = node
        self.topic = topic
        if not args:
            kwargs.setdefault('qos_profile', 10)
        self.sub = node.create_subscription(msg_type, topic, self.callback, *args, **kwargs)

    def callback(self, msg: Any) -> None:
        """Tells a message."""
        self.signalMessage(msg)

    def getTopic(self) -> str:
        """The topic, as it was given."""
        return self.topic

    def __getattr__(self, name: str) -> Any:
        if name == 'sub':  # it was not made
            raise AttributeError(name)
        return getattr(self.sub, name)
