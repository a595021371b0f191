"""Names that stock modules import from other modules, for scripts that import the names from the
importing module.

A module looks up these names only when they are needed, so that modules can refer to each other.
"""

import importlib

_INTERFACES = "rcl_interfaces.msg"
# Names that are different where they are defined.
_DEFINED_AS = {
    "MsgType": "MsgT", "SrvType": "SrvT", "SrvTypeRequest": "SrvRequestT",
    "SrvTypeResponse": "SrvResponseT",
    "rclpy_get_rmw_implementation_identifier": "get_rmw_implementation_identifier",
}

# For each module: the names that it reexports, by the module that defines them.
_NAMES = {
    "rclpy._rclpy_pybind11": {
        "rclpy._native.errors": "InvalidHandle NodeNameNonExistentError RCLError "
        "RCLInvalidROSArgsError TimerCancelledError UnknownROSArgsError UnsupportedEventTypeError",
        "rclpy.clock": "ClockChange",
        "rclpy.clock_type": "ClockType",
        "rclpy.impl._entities": "Client EventHandle GuardCondition Publisher Service Subscription "
        "Timer WaitSet",
        "rclpy.impl.logging_severity": "LoggingSeverity",
        "rclpy.qos": "QoSCompatibility",
        "rclpy.signals": "SignalHandlerOptions",
        "rclpy.utilities": "rclpy_get_rmw_implementation_identifier",
    },
    "rclpy.action.client": {
        "rclpy.clock": "Clock",
        "rclpy.executors": "await_or_execute",
        "rclpy.service_introspection": "ServiceIntrospectionState",
        "rclpy.time": "Time",
        "rclpy.type_support": "Action check_for_type_support",
        "rclpy.waitable": "Waitable",
    },
    "rclpy.action.server": {
        "rclpy.clock": "Clock",
        "rclpy.executors": "await_or_execute",
        "rclpy.service_introspection": "ServiceIntrospectionState",
        "rclpy.task": "Task",
        "rclpy.type_support": "Action check_for_type_support",
        "rclpy.waitable": "Waitable",
    },
    "rclpy.client": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.clock": "Clock",
        "rclpy.context": "Context",
        "rclpy.type_support": "Srv SrvType SrvTypeRequest SrvTypeResponse",
    },
    "rclpy.event_handler": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.logging": "get_logger",
        "rclpy.qos": "qos_policy_name_from_kind",
        "rclpy.waitable": "NumberOfEntities",
    },
    "rclpy.executors": {
        "rclpy.client": "Client",
        "rclpy.clock": "Clock",
        "rclpy.clock_type": "ClockType",
        "rclpy.exceptions": "InvalidHandle TimerCancelledError",
        "rclpy.guard_condition": "GuardCondition",
        "rclpy.service": "Service",
        "rclpy.signals": "SignalHandlerGuardCondition",
        "rclpy.subscription": "MessageInfo Subscription",
        "rclpy.timer": "Timer TimerInfo",
        "rclpy.type_support": "Msg",
        "rclpy.utilities": "timeout_sec_to_nsec",
        "rclpy.waitable": "NumberOfEntities Waitable",
    },
    "rclpy.guard_condition": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.utilities": "get_default_context",
    },
    "rclpy.lifecycle.node": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.impl.rcutils_logger": "RcutilsLogger",
        "rclpy.service": "Service",
        "rclpy.type_support": "check_is_valid_srv_type",
    },
    "rclpy.lifecycle.publisher": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.event_handler": "PublisherEventCallbacks",
        "rclpy.qos": "QoSProfile",
    },
    "rclpy.node": {
        _INTERFACES: "FloatingPointRange IntegerRange ListParametersResult ParameterDescriptor "
        "ParameterType ParameterValue SetParametersResult",
        "rcl_interfaces.srv": "ListParameters",
        "rclpy.callback_groups": "ReentrantCallbackGroup",
        "rclpy.clock": "ROSClock",
        "rclpy.exceptions": "InvalidParameterTypeException InvalidParameterValueException "
        "InvalidTopicNameException ParameterAlreadyDeclaredException ParameterImmutableException "
        "ParameterNotDeclaredException ParameterUninitializedException",
        "rclpy.executors": "Executor",
        "rclpy.expand_topic_name": "expand_topic_name",
        "rclpy.logging": "get_logger",
        "rclpy.logging_service": "LoggingService",
        "rclpy.parameter": "AllowableParameterValue AllowableParameterValueT ParameterMsg "
        "PARAMETER_SEPARATOR_STRING",
        "rclpy.parameter_service": "ParameterService",
        "rclpy.subscription": "MessageInfo",
        "rclpy.subscription_content_filter_options": "ContentFilterOptions",
        "rclpy.time_source": "TimeSource",
        "rclpy.timer": "TimerInfo",
        "rclpy.topic_endpoint_info": "TopicEndpointInfo",
        "rclpy.type_description_service": "TypeDescriptionService",
        "rclpy.type_support": "MsgT MsgType Srv SrvRequestT SrvResponseT SrvType SrvTypeRequest "
        "SrvTypeResponse",
        "rclpy.validate_full_topic_name": "validate_full_topic_name",
        "rclpy.validate_parameter_name": "validate_parameter_name",
        "rclpy.validate_topic_name": "validate_topic_name",
    },
    "rclpy.parameter_client": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.client": "Client",
        "rclpy.event_handler": "SubscriptionEventCallbacks",
        "rclpy.node": "Node",
        "rclpy.qos_overriding_options": "QoSOverridingOptions",
        "rclpy.subscription": "MessageInfo Subscription",
    },
    "rclpy.parameter_event_handler": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.event_handler": "SubscriptionEventCallbacks",
        "rclpy.node": "Node",
        "rclpy.qos_overriding_options": "QoSOverridingOptions",
    },
    "rclpy.parameter_service": {
        _INTERFACES: "ListParametersResult",
        "rclpy.validate_topic_name": "TOPIC_SEPARATOR_STRING",
    },
    "rclpy.publisher": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.event_handler": "EventHandler",
        "rclpy.type_support": "MsgType",
    },
    "rclpy.qos_overriding_options": {
        _INTERFACES: "SetParametersResult",
        "rclpy.parameter": "Parameter",
        "rclpy.publisher": "Publisher",
        "rclpy.qos": "QoSDurabilityPolicy QoSHistoryPolicy QoSLivelinessPolicy QoSReliabilityPolicy",
        "rclpy.subscription": "Subscription",
    },
    "rclpy.service": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.clock": "Clock",
        "rclpy.type_support": "Srv SrvType SrvTypeRequest SrvTypeResponse",
    },
    "rclpy.subscription": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.type_support": "MsgType",
    },
    "rclpy.timer": {
        "rclpy.callback_groups": "CallbackGroup",
        "rclpy.utilities": "get_default_context",
    },
    "rclpy.topic_endpoint_info": {"rclpy.qos": "QoSHistoryPolicy"},
    "rclpy.wait_for_message": {
        "rclpy.node": "Node",
        "rclpy.signals": "SignalHandlerGuardCondition",
        "rclpy.type_support": "MsgT",
        "rclpy.utilities": "timeout_sec_to_nsec",
    },
}


def reexports(module):
    """Returns the `__getattr__` of a module, for the names that the stock module imports from
    other modules."""
    homes = {name: home for home, names in _NAMES[module].items() for name in names.split()}

    def look_up(name):
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(importlib.import_module(home), _DEFINED_AS.get(name, name))

    return look_up
