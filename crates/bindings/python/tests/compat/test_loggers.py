"""Loggers of the package rclpy: levels, filters, and the options that must be the same in all calls
from one place in the code."""

import pytest
import rclpy
from rcl_interfaces.msg import Log
from rclpy.clock import Clock, ROSClock
from rclpy.impl.rcutils_logger import (
    LoggingFilter,
    Once,
    SkipFirst,
    Throttle,
    get_filters_from_kwargs,
    supported_filters,
)
from rclpy.logging import LoggingSeverity, get_logger, set_logger_level
from rclpy.time import Time


def test_levels_that_were_set_are_forgotten():
    logger = get_logger("forgotten")
    before = logger.get_effective_level()
    logger.set_level(LoggingSeverity.FATAL)
    set_logger_level("forgotten.child", LoggingSeverity.DEBUG)
    assert logger.get_child("other").get_effective_level() == LoggingSeverity.FATAL
    rclpy.logging.clear_config()
    assert logger.get_effective_level() == before
    assert logger.get_child("child").get_effective_level() == before


@pytest.mark.parametrize(("filters", "shown"), [
    ({"once": True}, [True, False, False, False]),
    ({"once": False}, [True, True, True, True]),
    ({"skip_first": True}, [False, True, True, True]),
    ({"skip_first": True, "once": True}, [False, True, False, False]),
    ({"throttle_duration_sec": 3600}, [True, False, False, False]),
    ({"throttle_duration_sec": 3600, "skip_first": True}, [False, False, False, False]),
])
def test_filters(filters, shown):
    logger = get_logger("filtered")
    assert [logger.info("text", **filters) for _ in range(4)] == shown


def test_a_throttle_goes_by_its_clock_from_zero_on():
    clock, logger, shown = ROSClock(), get_logger("throttled"), []
    clock._set_ros_time_is_active(True)
    for second in range(5):
        clock.set_ros_time_override(Time(seconds=second, clock_type=clock.clock_type))
        shown.append(logger.info(
            "text", throttle_duration_sec=2, throttle_time_source_type=clock))
    assert shown == [False, False, True, False, True]


def test_one_place_logs_in_one_way():
    logger = get_logger("changing")
    with pytest.raises(ValueError, match="parameters cannot be changed between"):
        for number in (1, 2):
            logger.log("text", LoggingSeverity.INFO, throttle_duration_sec=number)
    with pytest.raises(ValueError, match="name cannot be changed between"):
        for name in "ab":
            logger.log("text", LoggingSeverity.INFO, name=name)
    with pytest.raises(ValueError, match="severity cannot be changed between"):
        for severity in LoggingSeverity:
            logger.log("text", severity)
    for other in (logger, get_logger("of_its_own")):
        assert [other.warn("text", once=True) for _ in range(2)] == [True, False]


def test_arguments_that_mean_nothing():
    logger = get_logger("wrong")
    with pytest.raises(TypeError, match="required parameter .* not specified"):
        logger.info("text", throttle_time_source_type=Clock())
    with pytest.raises(TypeError, match="parameter .* is not one of the recognized"):
        logger.info("text", skip_first=True, skip_last=True)
    with pytest.raises(ValueError, match="not a valid Clock"):
        logger.info("text", throttle_duration_sec=1, throttle_time_source_type="steady")
    with pytest.raises(TypeError, match="multiple values for argument 'severity'"):
        logger.fatal("text", severity=LoggingSeverity.DEBUG)
    for name in ("", None):
        with pytest.raises(ValueError, match="Child logger name must not be empty"):
            logger.get_child(name)


def test_filters_are_classes():
    assert list(supported_filters.values()) == [Throttle, SkipFirst, Once]
    assert get_filters_from_kwargs(once=True, throttle_duration_sec=1) == ["throttle", "once"]
    context = {}
    Once.initialize_context(context, once=True)
    assert [Once.should_log(context) for _ in range(2)] == [True, False]
    with pytest.raises(TypeError, match="once"):
        Once.initialize_context({})
    with pytest.raises(NotImplementedError):
        LoggingFilter.should_log({})


def test_rosout_has_the_place_that_logs(node, spin_until):
    heard = []
    node.create_subscription(Log, "/rosout", heard.append, 10)
    logger = node.get_logger()
    logger.set_level(LoggingSeverity.DEBUG)
    for say in (logger.debug, logger.info, logger.warning, logger.error, logger.fatal):
        say("from here")  # the place
        logger._places.clear()  # it may have one severity
    rclpy.logging.clear_config()
    spin_until(lambda: len([log for log in heard if log.msg == "from here"]) == 5)
    told = [log for log in heard if log.msg == "from here"]
    assert [log.level for log in told] == [10, 20, 30, 40, 50]
    for log in told:
        assert (log.file, log.function) == (__file__, "test_rosout_has_the_place_that_logs")
    with open(__file__) as file:
        assert "# the place" in file.readlines()[told[0].line - 1]


def test_children_of_a_node_are_on_rosout(node, spin_until):
    heard = []
    node.create_subscription(Log, "/rosout", lambda log: heard.append((log.name, log.msg)), 10)
    logger = node.get_logger()
    children = [logger.get_child("arm"), logger.get_child("arm").get_child("hand")]
    for one in (logger, *children):
        one.info("here")
    wanted = [("tested", "here"), ("tested.arm", "here"), ("tested.arm.hand", "here")]
    spin_until(lambda: [one for one in heard if one[1] == "here"] == wanted)
    node.destroy_node()
    with pytest.raises(RuntimeError, match="gone"):
        logger.get_child("leg")


def test_the_root_without_a_level_shows_everything_as_in_stock():
    root, logger = rclpy.logging._root_logger, get_logger("below")
    try:
        root.set_level(LoggingSeverity.ERROR)
        assert root.get_effective_level() == logger.get_effective_level() == LoggingSeverity.ERROR
        assert rclpy.logging.get_logger_level("below") == LoggingSeverity.UNSET
        root.set_level(LoggingSeverity.UNSET)
        assert root.get_effective_level() == logger.get_effective_level() == LoggingSeverity.UNSET
        assert logger.is_enabled_for(LoggingSeverity.DEBUG) and logger.debug("is shown")
        set_logger_level("below", LoggingSeverity.WARN)
        assert get_logger("below.child").get_effective_level() == LoggingSeverity.WARN
        assert rclpy.logging.get_logger_level("below.child") == LoggingSeverity.UNSET
        set_logger_level("below", LoggingSeverity.UNSET)
        assert get_logger("below.child").get_effective_level() == LoggingSeverity.UNSET
    finally:
        rclpy.logging.clear_config()
    assert root.get_effective_level() == LoggingSeverity.INFO
