"""ROS 2 built for the shortest path, without a ROS installation.

    import feros
    from feros.msgs.std_msgs.msg import String

    with feros.Context() as context:
        node = context.create_node("listener")
        node.create_subscription(String, "chatter", lambda message: print(message.data))
        feros.spin(node)

Or with asyncio:

    async with feros.Context() as context:
        node = context.create_node("listener")
        async for message in node.subscribe(String, "chatter"):
            print(message.data)
"""

from feros import interfaces
from feros._feros import (
    CallFailed,
    DecodeError,
    FerosError,
    LoanError,
    MessageInfo,
    ParameterError,
    ShutdownError,
    UnknownTypeError,
    __version__,
)
from feros._messages import deserialize, serialize
from feros.clock import Clock, ClockType
from feros.context import Context
from feros.executor import Executor, spin, spin_once, spin_until_complete
from feros.future import Future
from feros.node import Node
from feros.qos import (
    Durability,
    History,
    Liveliness,
    QoSProfile,
    Reliability,
)

__all__ = [
    "CallFailed", "Clock", "ClockType", "Context", "DecodeError", "Durability", "Executor",
    "FerosError", "Future", "History", "Liveliness", "LoanError", "MessageInfo", "Node",
    "ParameterError", "QoSProfile", "Reliability", "ShutdownError", "UnknownTypeError",
    "__version__", "deserialize", "interfaces", "serialize", "spin", "spin_once", "spin_until_complete",
]
