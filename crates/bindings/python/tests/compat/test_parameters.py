"""Parameters of nodes of the package rclpy: descriptors, listing, refused values."""

import warnings

import pytest
from rcl_interfaces.msg import IntegerRange, ParameterDescriptor, ParameterType
from rclpy.exceptions import InvalidParameterValueException
from rclpy.parameter import Parameter


@pytest.mark.parametrize("declare", [
    lambda node, name: node.declare_parameter(name),
    lambda node, name: node.declare_parameters("", [(name,), ("with_value", 1)])[0],
])
def test_a_name_alone_is_declared_with_a_warning(node, declare):
    with pytest.warns(UserWarning, match="speed") as told:
        parameter = declare(node, "speed")
    assert len(told) == 1
    assert parameter.type_ == Parameter.Type.NOT_SET
    assert node.set_parameters([Parameter("speed", value="any type")])[0].successful
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        node.declare_parameter("typed", Parameter.Type.INTEGER)
        node.declare_parameter("described", descriptor=ParameterDescriptor(dynamic_typing=True))


def test_a_list_of_parameters_is_asked_for_with_numbers(node):
    node.declare_parameters("arm", [("speed", 1.0), ("joint.limit", 2.0)])
    assert node.list_parameters(["arm"], 1).names == ["arm.speed"]
    for prefixes, depth in (("arm", 0), ([1], 0), (["arm"], 1.5), (["arm"], None)):
        with pytest.raises(TypeError):
            node.list_parameters(prefixes, depth)
    with pytest.raises(ValueError):
        node.list_parameters(["arm"], -1)


def test_a_new_descriptor_keeps_name_and_type(node):
    node.declare_parameter("mode", "slow")
    value = node.set_descriptor("mode", ParameterDescriptor(
        name="other", type=ParameterType.PARAMETER_INTEGER, description="how", dynamic_typing=True))
    assert value.string_value == "slow"
    described = node.describe_parameter("mode")
    assert (described.name, described.type) == ("mode", ParameterType.PARAMETER_STRING)
    assert described.description == "how"


def test_the_alternative_is_for_a_value_that_does_not_fit(node):
    node.declare_parameter("gear", 9)
    alternative = Parameter("gear", value=2).get_parameter_value()
    narrow = ParameterDescriptor(integer_range=[IntegerRange(from_value=1, to_value=5)])
    wide = ParameterDescriptor(integer_range=[IntegerRange(from_value=1, to_value=10)])
    assert node.set_descriptor("gear", wide, alternative).integer_value == 9
    with pytest.raises(InvalidParameterValueException):
        node.set_descriptor("gear", narrow)
    assert node.set_descriptor("gear", narrow, alternative).integer_value == 2
    assert node.get_parameter("gear").value == 2


def test_the_type_of_a_descriptor_stands_for_no_value_as_in_stock(node):
    typed = ParameterDescriptor(type=ParameterType.PARAMETER_INTEGER)
    for declare in (
        lambda: node.declare_parameter("typed", None, typed),
        lambda: node.declare_parameter("typed", descriptor=typed),
        lambda: node.declare_parameters("", [("typed", None, typed)]),
    ):
        with pytest.raises(ValueError, match="without a value"):
            declare()
    assert not node.has_parameter("typed")
    dynamic = ParameterDescriptor(type=ParameterType.PARAMETER_INTEGER, dynamic_typing=True)
    node.declare_parameter("dynamic", None, dynamic)
    assert node.describe_parameter("dynamic").type == ParameterType.PARAMETER_NOT_SET
    assert node.declare_parameter("mine", Parameter.Type.STRING, typed).value is None
    assert node.describe_parameter("mine").type == ParameterType.PARAMETER_STRING
