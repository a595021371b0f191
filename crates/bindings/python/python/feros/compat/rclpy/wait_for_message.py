"""Receives one message, so that the caller needs no subscription."""

from typing import Any, Tuple, Union

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from .qos import QoSProfile


def wait_for_message(
    msg_type: Any,
    node: Any,
    topic: str,
    *,
    qos_profile: Union[QoSProfile, int] = 1,
    time_to_wait: Union[int, float] = -1,
) -> Tuple[bool, Any]:
    """Returns `(True, message)` with the next message; `(False, None)` after a timeout or at a
    shutdown."""
    from .executors import ExternalShutdownException, SingleThreadedExecutor
    from .task import Future

    future: Future = Future()

    def came(message: Any) -> None:
        if future._pending():
            future.set_result(message)

    # The subscription belongs to a separate node, since another thread may spin the given node.
    helper = node._rclpy_create_helper('wait_for_message')
    executor = SingleThreadedExecutor(context=node.context)
    try:
        helper.create_subscription(msg_type, node.resolve_topic_name(topic), came, qos_profile)
        executor.add_node(helper)
        executor.spin_until_future_complete(future, None if time_to_wait < 0 else time_to_wait)
    except ExternalShutdownException:
        pass
    finally:
        executor.shutdown()
        helper.destroy_node()
    return (True, future.result()) if future.done() else (False, None)


__getattr__ = reexports(__name__)
