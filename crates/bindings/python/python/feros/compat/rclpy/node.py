"""Nodes."""

import weakref
from typing import Any, Callable, Iterator, List, Optional, Type, Union

from rcl_interfaces.msg import ParameterEvent

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from . import _unspun
from ._entity import Entity
from ._handles import NodeHandle
from ._native import extension, message_type
from ._native.errors import InvalidHandle, NodeNameNonExistentError, RCLError
from ._native.qos import to_tuple
from ._node_endpoints import NodeEndpoints
from ._node_executors import NodeExecutors
from ._node_graph import NodeGraph
from ._node_names import NodeNames
from ._node_parameters import NodeParameters
from .callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from .client import Client
from .clock import Clock
from .constants import S_TO_NS
from .context import Context, argument_error
from .event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from .exceptions import NotInitializedException
from .guard_condition import GuardCondition
from .impl.rcutils_logger import RcutilsLogger
from .parameter import Parameter
from .publisher import Publisher
from .qos import (
    QoSProfile,
    qos_profile_parameter_events,
    qos_profile_rosout_default,
    qos_profile_services_default,
)
from .qos_overriding_options import QoSOverridingOptions, declare_qos_parameters
from .service import Service
from .subscription import Subscription
from .timer import Rate, Timer
from .type_support import check_is_valid_msg_type, check_is_valid_srv_type
from .utilities import get_default_context
from .validate_namespace import validate_namespace
from .validate_node_name import validate_node_name
from .waitable import Waitable

__all__ = ['HIDDEN_NODE_PREFIX', 'Node', 'NodeNameNonExistentError']

HIDDEN_NODE_PREFIX = '_'


class Node(NodeParameters, NodeNames, NodeGraph, NodeEndpoints, NodeExecutors):
    """A name in the graph that groups endpoints, timers and parameters.

    Scripts derive classes from it. Names that stock's class does not have begin with `_rclpy_`, so
    that scripts may use any other names.
    """

    def __init__(
        self,
        node_name: str,
        *,
        context: Optional[Context] = None,
        cli_args: Optional[List[str]] = None,
        namespace: Optional[str] = None,
        use_global_arguments: bool = True,
        enable_rosout: bool = True,
        rosout_qos_profile: Union[QoSProfile, int] = qos_profile_rosout_default,
        start_parameter_services: bool = True,
        parameter_overrides: Optional[List[Parameter]] = None,
        allow_undeclared_parameters: bool = False,
        automatically_declare_parameters_from_overrides: bool = False,
        enable_logger_service: bool = False,
    ) -> None:
        self._context = get_default_context() if context is None else context
        if not self._context.ok():
            raise NotInitializedException('cannot create node')
        self._rclpy_entities: dict = {kind: [] for kind in _KINDS}
        self._rclpy_start_unspun()
        self._rclpy_uses = 0  # the number of current uses of the handle
        self._parameter_event_publisher: Any = None
        self._default_callback_group = MutuallyExclusiveCallbackGroup()
        namespace = namespace or ''
        given = {one.name: one for one in parameter_overrides or []}
        self._rclpy_native = self._rclpy_make(
            node_name, namespace, cli_args, enable_rosout=enable_rosout,
            rosout_qos=to_tuple(self._validate_qos_or_depth_parameter(rosout_qos_profile)),
            use_global_arguments=use_global_arguments, enable_logger_service=enable_logger_service,
            parameter_overrides={
                name: list(one.value) if isinstance(one.value, tuple) else one.value
                for name, one in given.items()
            },
        )
        self._rclpy_name = self._rclpy_native.name
        self._rclpy_namespace = self._rclpy_native.namespace
        find_node = weakref.ref(self)

        def find_native() -> Any:
            node = find_node()
            return None if node is None else node._rclpy_native

        self._logger = RcutilsLogger(self._rclpy_native.logger_name, find_native)
        self._clock = Clock._of_node(self._rclpy_native.clock)
        overrides = {
            name: Parameter(name, value=value)
            for name, value in self._rclpy_native.parameters.overrides().items()
        }
        self._rclpy_start_parameters({**overrides, **given}, allow_undeclared_parameters)
        self._parameter_event_publisher = self.create_publisher(
            ParameterEvent, '/parameter_events', qos_profile_parameter_events
        )
        self.declare_parameter('use_sim_time', False)
        self.declare_parameter('start_type_description_service', True)
        if automatically_declare_parameters_from_overrides:
            self.declare_parameters('', [
                (name, one.value) for name, one in self._parameter_overrides.items()
                if name not in self._parameters
            ], ignore_override=True)
        if start_parameter_services:
            from .parameter_service import ParameterService

            self._parameter_service = ParameterService(self)
        self._context.track_node(self)

    def _rclpy_make(
        self, name: str, namespace: str, arguments: Optional[List[str]], **options: Any
    ) -> Any:
        if arguments is not None:
            options['arguments'] = list(arguments)
        if namespace:
            options['namespace'] = namespace
        try:
            return self._rclpy_create_native(name, start_parameter_services=False, **options)
        except extension.FerosError as error:
            validate_node_name(name)
            if namespace:
                absolute = namespace if namespace.startswith('/') else f'/{namespace}'
                validate_namespace(absolute)
            if arguments is not None:
                raise argument_error(str(error)) from None
            raise RCLError(f'error creating node: {error}') from None

    def _rclpy_create_native(self, name: str, **options: Any) -> Any:
        return self._context.native.create_node(name, **options)

    def _rclpy_create_helper(self, purpose: str) -> 'Node':
        """Creates another node in the same context, which another thread may spin."""
        return Node(
            f'_{self._rclpy_name}_{purpose}_{id(object())}', context=self._context,
            enable_rosout=False, use_global_arguments=False, start_parameter_services=False,
        )

    # The objects that belong to the node.

    publishers = property(
        lambda self: iter(self._rclpy_entities['publisher']), doc='Its publishers.')
    subscriptions = property(
        lambda self: iter(self._rclpy_entities['subscription']), doc='Its subscriptions.')
    clients = property(lambda self: iter(self._rclpy_entities['client']), doc='Its clients.')
    services = property(lambda self: iter(self._rclpy_entities['service']), doc='Its services.')
    timers = property(lambda self: iter(self._rclpy_entities['timer']), doc='Its timers.')
    guards = property(lambda self: iter(self._rclpy_entities['guard']), doc='Its guard conditions.')

    @property
    def waitables(self) -> Iterator[Any]:
        """The node's waitables, including handlers of events."""
        return iter(self._rclpy_entities['waitable'])

    def _rclpy_keep(self, kind: str, entity: Entity) -> Any:
        entity._attach(self)
        self._rclpy_entities[kind].append(entity)
        while True:
            executor = self._rclpy_executor()
            entity._follow(executor)
            if executor is self._rclpy_executor():  # the executor may change meanwhile
                return entity

    def _rclpy_end(self, kind: str, entity: Any) -> bool:
        if entity not in self._rclpy_entities[kind]:
            return False
        self._rclpy_entities[kind].remove(entity)
        for handler in getattr(entity, 'event_handlers', ()):
            if handler in self._rclpy_entities['waitable']:
                self._rclpy_entities['waitable'].remove(handler)
        entity.destroy()
        return True

    # Properties of the node.

    @property
    def context(self) -> Context:
        """The context of the node."""
        return self._context

    @property
    def default_callback_group(self) -> CallbackGroup:
        """The group of entities that are made without a group."""
        return self._default_callback_group

    @property
    def handle(self) -> NodeHandle:
        """Replaces the C structure of stock ROS 2; valid until the destruction."""
        return NodeHandle(self)

    @handle.setter
    def handle(self, value: Any) -> None:
        raise AttributeError('handle cannot be modified after node creation')

    @property
    def _rclpy_living(self) -> 'Node':
        """The node itself; raises `InvalidHandle` after its destruction."""
        if self._rclpy_native is None:
            raise InvalidHandle('cannot use Node after its destruction')
        return self

    def get_name(self) -> str:
        """Returns the name of the node."""
        self._rclpy_living  # noqa: B018: raises when destroyed
        return self._rclpy_name

    def get_namespace(self) -> str:
        """Returns the namespace of the node."""
        self._rclpy_living  # noqa: B018: raises when destroyed
        return self._rclpy_namespace

    def get_fully_qualified_name(self) -> str:
        """Returns the namespace and the name of the node."""
        return f'{self.get_namespace().rstrip("/")}/{self._rclpy_name}'

    def get_clock(self) -> Clock:
        """Returns the clock of the node, which shows ROS time."""
        return self._clock

    def get_logger(self) -> RcutilsLogger:
        """Returns the logger of the node."""
        return self._logger

    # Creating entities.

    def create_publisher(
        self,
        msg_type: Any,
        topic: str,
        qos_profile: Union[QoSProfile, int],
        *,
        callback_group: Optional[CallbackGroup] = None,
        event_callbacks: Optional[PublisherEventCallbacks] = None,
        qos_overriding_options: Optional[QoSOverridingOptions] = None,
        publisher_class: Type[Publisher] = Publisher,
    ) -> Publisher:
        """Creates a publisher of a message class on a topic, with a profile or a depth."""
        self._rclpy_living  # noqa: B018: raises when destroyed
        qos = self._validate_qos_or_depth_parameter(qos_profile)
        group = callback_group or self._default_callback_group
        check_is_valid_msg_type(msg_type)
        self._rclpy_validate(topic)
        if qos_overriding_options is not None:
            declare_qos_parameters(
                'publisher', self, self.resolve_topic_name(topic), qos, qos_overriding_options)
        publisher = self._rclpy_make_publisher(
            msg_type, topic, qos, group, event_callbacks or PublisherEventCallbacks(),
            publisher_class)
        return self._rclpy_keep('publisher', publisher)

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., Any],
        qos_profile: Union[QoSProfile, int],
        *,
        callback_group: Optional[CallbackGroup] = None,
        event_callbacks: Optional[SubscriptionEventCallbacks] = None,
        qos_overriding_options: Optional[QoSOverridingOptions] = None,
        raw: bool = False,
        content_filter_options: Any = None,
        acceptable_buffer_backends: Optional[str] = None,
    ) -> Subscription:
        """Creates a subscription that calls `callback(message)` or `callback(message, info)`.

        Arrays are always in the memory of the CPU, which every value of
        `acceptable_buffer_backends` (of Lyrical) accepts.
        """
        self._rclpy_living  # noqa: B018: raises when destroyed
        qos = self._validate_qos_or_depth_parameter(qos_profile)
        group = callback_group or self._default_callback_group
        check_is_valid_msg_type(msg_type)
        self._rclpy_validate(topic)
        if qos_overriding_options is not None:
            declare_qos_parameters(
                'subscription', self, self.resolve_topic_name(topic), qos, qos_overriding_options)
        subscription = self._rclpy_make_subscription(
            msg_type, topic, callback, qos, group, event_callbacks or SubscriptionEventCallbacks(),
            raw, content_filter_options)
        return self._rclpy_keep('subscription', subscription)

    def create_client(
        self,
        srv_type: Any,
        srv_name: str,
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: Optional[CallbackGroup] = None,
    ) -> Client:
        """Creates a client of a service."""
        group = callback_group or self._default_callback_group
        client = self._rclpy_make_client(srv_type, srv_name, qos_profile, group)
        return self._rclpy_keep('client', client)

    def create_service(
        self,
        srv_type: Any,
        srv_name: str,
        callback: Callable[[Any, Any], Any],
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: Optional[CallbackGroup] = None,
    ) -> Service:
        """Creates a service server: `callback(request, response)` returns the response."""
        group = callback_group or self._default_callback_group
        service = self._rclpy_make_service(srv_type, srv_name, callback, qos_profile, group)
        return self._rclpy_keep('service', service)

    def create_timer(
        self,
        timer_period_sec: float,
        callback: Optional[Callable[..., Any]],
        callback_group: Optional[CallbackGroup] = None,
        clock: Optional[Clock] = None,
        autostart: bool = True,
    ) -> Timer:
        """Creates a timer that calls a callback periodically, on a clock that is ROS time by
        default."""
        native = self._rclpy_living._rclpy_native
        timer = Timer(
            callback, callback_group or self._default_callback_group,
            int(float(timer_period_sec) * S_TO_NS), clock or self._clock, context=self._context,
            autostart=autostart, node=native)
        return self._rclpy_keep('timer', timer)

    def create_guard_condition(
        self, callback: Callable[[], None], callback_group: Optional[CallbackGroup] = None
    ) -> GuardCondition:
        """Creates a guard condition that calls a callback after each trigger."""
        self._rclpy_living  # noqa: B018: raises when destroyed
        group = callback_group or self._default_callback_group
        return self._rclpy_keep('guard', GuardCondition(callback, group, context=self._context))

    def create_rate(self, frequency: float, clock: Optional[Clock] = None) -> Rate:
        """Creates a `Rate` for a loop with this frequency in Hz; raises `ValueError` unless it is
        positive."""
        if frequency <= 0:
            raise ValueError('frequency must be > 0')
        from .callback_groups import ReentrantCallbackGroup

        self._rate_group = getattr(self, '_rate_group', None) or ReentrantCallbackGroup()
        timer = self.create_timer(1.0 / frequency, None, self._rate_group, clock)
        return Rate(timer, context=self._context)

    def add_waitable(self, waitable: Waitable) -> None:
        """Makes the executor run a waitable."""
        self._rclpy_keep('waitable', waitable)
        waitable._begin(self)

    def remove_waitable(self, waitable: Waitable) -> None:
        """Makes the executor stop running a waitable."""
        self._rclpy_entities['waitable'].remove(waitable)
        waitable._end()
        waitable._follow(None)

    # Destroying entities.

    def destroy_publisher(self, publisher: Publisher) -> bool:
        """Destroys the publisher; returns `False` if it belongs to another node."""
        return self._rclpy_end('publisher', publisher)

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """Destroys the subscription; returns `False` if it belongs to another node."""
        return self._rclpy_end('subscription', subscription)

    def destroy_client(self, client: Client) -> bool:
        """Destroys the client; returns `False` if it belongs to another node."""
        return self._rclpy_end('client', client)

    def destroy_service(self, service: Service) -> bool:
        """Destroys the server; returns `False` if it belongs to another node."""
        return self._rclpy_end('service', service)

    def destroy_timer(self, timer: Timer) -> bool:
        """Destroys the timer; returns `False` if it belongs to another node."""
        return self._rclpy_end('timer', timer)

    def destroy_guard_condition(self, guard: GuardCondition) -> bool:
        """Destroys the guard condition; returns `False` if it belongs to another node."""
        return self._rclpy_end('guard', guard)

    def destroy_rate(self, rate: Rate) -> bool:
        """Destroys the rate; returns `False` if it belongs to another node."""
        if rate._timer not in self._rclpy_entities['timer']:
            return False
        rate.destroy()
        return self.destroy_timer(rate._timer)

    def destroy_node(self) -> None:
        """Destroys the node and everything that it made."""
        self._context.untrack_node(self)
        executor = self.executor
        if executor is not None and isinstance(executor._native, extension.Executor):
            executor.remove_node(self)
        self._parameter_event_publisher = None
        for kind in _KINDS:
            while self._rclpy_entities[kind]:
                self._rclpy_end(kind, self._rclpy_entities[kind][0])
        self._rclpy_end_unspun()
        _unspun.note(self, False)
        self._rclpy_native = None

    def __enter__(self) -> 'Node':
        return self

    def __exit__(self, *_: Any) -> None:
        self.destroy_node()


_KINDS = ('publisher', 'subscription', 'client', 'service', 'timer', 'guard', 'waitable')


__getattr__ = reexports(__name__)
