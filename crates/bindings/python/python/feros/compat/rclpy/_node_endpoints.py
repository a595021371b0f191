"""Creates the endpoints of a node: endpoints that the node owns, and endpoints for which a script
only has a handle."""

import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from ._native import extension, message_type
from ._native.errors import RCLError
from ._native.qos import to_tuple
from .client import Client
from .event_handler import EventHandler, route
from .publisher import Publisher
from .service import Service
from .subscription import Subscription
from .type_support import check_is_valid_srv_type

Routes = Dict[str, List[EventHandler]]


class NodeEndpoints:
    """A part of `Node`."""

    _context: Any
    _logger: Any
    _rclpy_keep: Any
    _rclpy_living: Any
    _rclpy_validate: Any

    def _rclpy_made(self, make: Callable[[], Any], what: str) -> Any:
        try:
            return make()
        except extension.FerosError as error:
            raise RCLError(f'Failed to create {what}: {error}') from None

    def _rclpy_handlers(
        self, callbacks: Any, group: Any, topic: str
    ) -> Tuple[List[EventHandler], Routes]:
        """Returns the handlers of an endpoint's events, and the recipients of the events, by the
        name of the event."""
        table = callbacks._handlers(group, self._logger.name, topic)
        for handler in table.values():
            self._rclpy_keep('waitable', handler)
        return list(table.values()), {name: [handler] for name, handler in table.items()}

    def _rclpy_make_publisher(
        self, msg_type: Any, topic: str, qos: Any, group: Any, callbacks: Any,
        publisher_class: Type[Publisher],
    ) -> Any:
        native = self._rclpy_living._rclpy_native
        handlers, routes = self._rclpy_handlers(callbacks, group, topic)
        made = self._rclpy_made(lambda: native.create_publisher(
            message_type(msg_type), topic, to_tuple(qos), None,
            lambda name, status: route(routes, name, status)), 'publisher')
        publisher = publisher_class(
            made, msg_type, topic, qos, event_callbacks=callbacks, callback_group=group)
        publisher._logger_name = self._logger.name
        publisher.event_handlers, publisher._event_routes = handlers, routes
        return publisher

    def _rclpy_make_subscription(
        self, msg_type: Any, topic: str, callback: Callable[..., Any], qos: Any, group: Any,
        callbacks: Any, raw: bool = False, content_filter_options: Any = None,
    ) -> Any:
        native = self._rclpy_living._rclpy_native
        handlers, routes = self._rclpy_handlers(callbacks, group, topic)
        subscription: Any = Subscription(
            None, msg_type, topic, callback, group, qos, raw, callbacks, self._logger.name)
        subscription.event_handlers, subscription._event_routes = handlers, routes
        lost = weakref.WeakMethod(subscription._lost_in_transport)

        def tell(name: str, status: Any) -> None:
            method = lost() if name == 'message_lost' else None
            if method is None:
                route(routes, name, status)
            else:
                method(status)

        subscription._native = self._rclpy_made(lambda: native.create_subscription(
            message_type(msg_type), topic, to_tuple(qos), subscription._queue, raw=raw,
            views=False, on_event=tell,
            # Each message has the statuses of all goals, so the last one is enough.
            log_lost=not topic.endswith('/_action/status'),
            content_filter=content_filter_options and tuple(content_filter_options)),
            'subscription')
        return subscription

    def _rclpy_make_client(
        self, srv_type: Any, srv_name: str, qos: Any, group: Any
    ) -> Any:
        native = self._rclpy_living._rclpy_native
        check_is_valid_srv_type(srv_type)
        self._rclpy_validate(srv_name, is_service=True)
        made = self._rclpy_made(lambda: native.create_client(
            srv_name, srv_type._feros_name, message_type(srv_type.Request),
            message_type(srv_type.Response), to_tuple(qos)), 'client')
        return Client(self._context, made, srv_type, srv_name, qos, group, self._logger.name)

    def _rclpy_make_service(
        self, srv_type: Any, srv_name: str, callback: Callable[[Any, Any], Any], qos: Any,
        group: Any,
    ) -> Any:
        native = self._rclpy_living._rclpy_native
        check_is_valid_srv_type(srv_type)
        self._rclpy_validate(srv_name, is_service=True)
        service: Any = Service(None, srv_type, srv_name, callback, group, qos, self._logger.name)
        find_service: Callable[[], Optional[Service]] = weakref.ref(service)

        def answer(request: Any, responder: Any) -> None:
            living = find_service()
            if living is not None:
                living._arrived((request, responder))

        service._native = self._rclpy_made(lambda: native.create_service(
            srv_name, srv_type._feros_name, message_type(srv_type.Request),
            message_type(srv_type.Response), to_tuple(qos), answer), 'service')
        return service
