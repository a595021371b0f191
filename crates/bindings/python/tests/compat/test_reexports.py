"""Names that scripts import from modules of rclpy that have imported them from other modules."""

import importlib

import pytest

from rclpy._reexports import _NAMES

ALL = [(module, name) for module, homes in _NAMES.items() for names in homes.values() for name in names.split()]


@pytest.mark.parametrize("module, name", ALL)
def test_a_name_of_another_module_is_found(module, name):
    assert getattr(importlib.import_module(module), name) is not None


def test_importing_an_unknown_name_is_an_error():
    with pytest.raises(ImportError, match="cannot import name 'ReentrantCallbackGrup'"):
        from rclpy.node import ReentrantCallbackGrup  # noqa: F401


def test_names_are_those_of_their_own_modules():
    import rcl_interfaces.msg
    import rclpy.callback_groups
    from rclpy.node import ParameterDescriptor, ReentrantCallbackGroup
    from rclpy.qos_event import QoSEventHandler
    from rclpy.event_handler import QoSEventHandler as same

    assert ReentrantCallbackGroup is rclpy.callback_groups.ReentrantCallbackGroup
    assert ParameterDescriptor is rcl_interfaces.msg.ParameterDescriptor
    assert QoSEventHandler is same
