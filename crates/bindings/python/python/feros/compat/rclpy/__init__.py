"""The ROS 2 client library for Python, with the names of stock `rclpy`, on Feros.

Scripts for stock `rclpy` run unchanged. If the `rclpy` of ROS 2 is installed, Python finds that
package first.
"""

from typing import Any, List, Optional, Union

from .context import Context
from .parameter import Parameter
from .qos import QoSProfile, qos_profile_rosout_default
from .signals import (
    SignalHandlerOptions,
    install_signal_handlers,
    uninstall_signal_handlers,
)
from .task import Future
from .utilities import (
    get_available_rmw_implementations,
    get_default_context,
    get_rmw_implementation_identifier,
    ok,
)
from .utilities import shutdown as _shutdown
from .utilities import try_shutdown as _try_shutdown

__all__ = [
    'InitContextManager', 'create_node', 'get_available_rmw_implementations',
    'get_default_context', 'get_global_executor', 'get_rmw_implementation_identifier', 'init',
    'ok', 'shutdown', 'spin', 'spin_once', 'spin_until_future_complete', 'try_shutdown',
]

__executor: Any = None


class InitContextManager:
    """The result of `init`, for `with rclpy.init() as init`. Its `context` is shut down at the end
    of the block."""

    def __init__(
        self,
        args: Optional[List[str]],
        context: Optional[Context],
        domain_id: Optional[int],
        signal_handler_options: Optional[SignalHandlerOptions],
    ) -> None:
        self.context = get_default_context() if context is None else context
        self._is_default = context is None
        if signal_handler_options is None:
            signal_handler_options = (
                SignalHandlerOptions.ALL if self._is_default else SignalHandlerOptions.NO)
        self.context.init(args, domain_id=domain_id)
        install_signal_handlers(signal_handler_options)
        self._installed = signal_handler_options != SignalHandlerOptions.NO

    def __enter__(self) -> 'InitContextManager':
        return self

    def __exit__(self, *error: Any) -> None:
        self.context.__exit__(*error)
        if self._is_default:
            try_shutdown()
        if self._installed:
            uninstall_signal_handlers()


def init(
    *,
    args: Optional[List[str]] = None,
    context: Optional[Context] = None,
    domain_id: Optional[int] = None,
    signal_handler_options: Optional[SignalHandlerOptions] = None,
) -> InitContextManager:
    """Joins the graph. Handles signals if the default context is used."""
    return InitContextManager(args, context, domain_id, signal_handler_options)


def get_global_executor() -> Any:
    """Returns the executor of `spin` and similar functions, and creates it at the first call."""
    global __executor
    executor = __executor
    if executor is None:
        from .executors import SingleThreadedExecutor

        executor = __executor = SingleThreadedExecutor()
        # A signal may end the context here; the executor is returned nevertheless.
        get_default_context().on_shutdown(__reset_executor)
    return executor


def __reset_executor() -> None:
    global __executor
    executor, __executor = __executor, None
    if executor is not None:
        executor.wake()


def shutdown(
    *, context: Optional[Context] = None, uninstall_handlers: Optional[bool] = None
) -> None:
    """Shuts a context down; raises `RuntimeError` if that has already happened."""
    _shutdown(context=context)
    if uninstall_handlers or (uninstall_handlers is None and context is None):
        uninstall_signal_handlers()


def try_shutdown(
    *, context: Optional[Context] = None, uninstall_handlers: Optional[bool] = None
) -> None:
    """Shuts a context down, unless that has already happened."""
    _try_shutdown(context=context)
    if uninstall_handlers or (uninstall_handlers is None and context is None):
        uninstall_signal_handlers()


def create_node(
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
) -> Any:
    """Creates a node; the arguments are those of `Node`."""
    from .node import Node

    return Node(
        node_name, context=context, cli_args=cli_args, namespace=namespace,
        use_global_arguments=use_global_arguments, enable_rosout=enable_rosout,
        rosout_qos_profile=rosout_qos_profile, start_parameter_services=start_parameter_services,
        parameter_overrides=parameter_overrides,
        allow_undeclared_parameters=allow_undeclared_parameters,
        automatically_declare_parameters_from_overrides=(
            automatically_declare_parameters_from_overrides),
        enable_logger_service=enable_logger_service,
    )


def spin_once(node: Any, *, executor: Any = None, timeout_sec: Optional[float] = None) -> None:
    """Runs one callback of a node."""
    executor = get_global_executor() if executor is None else executor
    try:
        executor.add_node(node)
        executor.spin_once(timeout_sec=timeout_sec)
    finally:
        executor.remove_node(node)


def spin(node: Any, executor: Any = None) -> None:
    """Runs callbacks of a node until its context is shut down."""
    executor = get_global_executor() if executor is None else executor
    try:
        executor.add_node(node)
        while executor.context.ok() and not executor._is_shutdown:
            executor.spin_once()
    finally:
        executor.remove_node(node)


def spin_until_future_complete(
    node: Any, future: Future, executor: Any = None, timeout_sec: Optional[float] = None
) -> None:
    """Runs callbacks of a node until a future is done or the timeout passes."""
    executor = get_global_executor() if executor is None else executor
    try:
        executor.add_node(node)
        executor.spin_until_future_complete(future, timeout_sec)
    finally:
        executor.remove_node(node)


# The modules that stock rclpy has loaded by the time a script has its first node.
_LOADED_WITH_NODES = frozenset((
    'callback_groups', 'client', 'clock', 'clock_type', 'constants', 'duration', 'event_handler',
    'exceptions', 'executors', 'expand_topic_name', 'guard_condition', 'impl', 'logging',
    'logging_service', 'node', 'parameter_service', 'publisher', 'qos_overriding_options',
    'service', 'service_introspection', 'subscription', 'time', 'time_source', 'timer',
    'topic_endpoint_info', 'type_description_service', 'type_hash', 'type_support',
    'validate_full_topic_name', 'validate_namespace', 'validate_node_name',
    'validate_parameter_name', 'validate_topic_name', 'waitable',
))


def __getattr__(name: str) -> Any:
    """Imports modules that scripts use without importing them."""
    if name not in _LOADED_WITH_NODES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    import importlib

    return importlib.import_module(f'.{name}', __name__)
