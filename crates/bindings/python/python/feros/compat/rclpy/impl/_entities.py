"""Entities with the names of the stock binding. A script has only their handles, and no executor
calls callbacks for them. Scripts wait for these entities with wait sets, and take data from them.
"""

import weakref
from typing import Any

from .._handles import ContextHandle, Handle, NodeHandle
from .._wait_set import WaitSet
from ..event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks, handler_of
from ..guard_condition import GuardCondition as _GuardCondition
from ..publisher import Publisher as _Publisher
from ..timer import Timer as _Timer

__all__ = [
    'Client', 'EventHandle', 'GuardCondition', 'Publisher', 'Service', 'Subscription', 'Timer',
    'WaitSet',
]


def _node(handle: Any) -> Any:
    if not isinstance(handle, NodeHandle):
        raise TypeError(f'expected the handle of a node, not {type(handle).__name__}')
    return handle._owner._rclpy_living


def _context(handle: Any) -> Any:
    if not isinstance(handle, ContextHandle):
        raise TypeError(f'expected the handle of a context, not {type(handle).__name__}')
    return handle._owner


def _handle_of(entity: Any, node: Any) -> Handle:
    entity._find_node = weakref.ref(node)
    handle: Handle = entity.handle
    return handle


def Publisher(node: Any, msg_type: Any, topic: str, qos: Any) -> Handle:
    """Returns the handle of a publisher that its node does not own."""
    owner = _node(node)
    return _handle_of(owner._rclpy_make_publisher(
        msg_type, topic, qos, None, PublisherEventCallbacks(use_default_callbacks=False),
        _Publisher), owner)


def Subscription(node: Any, msg_type: Any, topic: str, qos: Any) -> Handle:
    """Returns the handle of a subscription, with which its messages are taken."""
    owner = _node(node)
    return _handle_of(owner._rclpy_make_subscription(
        msg_type, topic, lambda _: None, qos, None,
        SubscriptionEventCallbacks(use_default_callbacks=False)), owner)


def Client(node: Any, srv_type: Any, srv_name: str, qos: Any) -> Handle:
    """Returns the handle of a client, with which its responses are taken."""
    owner = _node(node)
    return _handle_of(owner._rclpy_make_client(srv_type, srv_name, qos, None), owner)


def Service(node: Any, srv_type: Any, srv_name: str, qos: Any) -> Handle:
    """Returns the handle of a server, with which its requests are taken."""
    owner = _node(node)
    return _handle_of(owner._rclpy_make_service(
        srv_type, srv_name, lambda _, response: response, qos, None), owner)


def Timer(clock: Any, context: Any, period_nsec: int, autostart: bool = True) -> Handle:
    """Returns the handle of a timer that a script polls. It is spun with a node of the context."""
    owner = _context(context)._rclpy_any_node()
    return _handle_of(_Timer(
        None, None, int(period_nsec), clock, context=owner.context, autostart=autostart,
        node=owner._rclpy_native), owner)


def GuardCondition(context: Any) -> Handle:
    """Returns the handle of a guard condition that a script polls."""
    handle: Handle = _GuardCondition(None, None, context=_context(context)).handle
    return handle


def EventHandle(parent: Any, event_type: Any) -> Handle:
    """Returns the handle of one kind of event of an endpoint, given the endpoint's handle."""
    if not isinstance(parent, Handle):
        raise TypeError(f'expected the handle of an endpoint, not {type(parent).__name__}')
    handle: Handle = handler_of(parent._owner, event_type).handle
    return handle
