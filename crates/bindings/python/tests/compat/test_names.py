"""Names of the package rclpy: errors in them have the texts of stock ROS 2."""

import pytest
from rclpy.exceptions import (
    InvalidNamespaceException,
    InvalidNodeNameException,
    InvalidServiceNameException,
    InvalidTopicNameException,
)
from rclpy.expand_topic_name import expand_topic_name
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name
from rclpy.validate_topic_name import validate_topic_name

LONG = "/" + "a" * 300


@pytest.mark.parametrize(("validate", "name"), [
    (validate_namespace, "/"), (validate_namespace, "/arm/_left"), (validate_node_name, "_arm1"),
    (validate_topic_name, "~"), (validate_topic_name, "~/{node}"), (validate_topic_name, LONG),
    (validate_topic_name, "a//b"), (validate_topic_name, "~tail"),
    (validate_full_topic_name, "/arm/state"),
])
def test_names_that_can_be(validate, name):
    assert validate(name) is True


@pytest.mark.parametrize(("validate", "name", "kind", "words"), [
    (validate_namespace, "arm", InvalidNamespaceException,
     "namespace must be absolute, it must lead with a '/'"),
    (validate_namespace, "/arm/", InvalidNamespaceException,
     "namespace must not end with a '/', unless only a '/'"),
    (validate_namespace, "/a//b", InvalidNamespaceException,
     "namespace must not contain repeated '/'"),
    (validate_namespace, LONG, InvalidNamespaceException,
     "namespace should not exceed 'RMW_NAMESPACE_MAX_NAME_LENGTH'"),
    (validate_node_name, "", InvalidNodeNameException, "node name must not be empty"),
    (validate_topic_name, "a~", InvalidTopicNameException,
     "topic name must not have tilde '~' unless it is the first character"),
    (validate_topic_name, "a{b", InvalidTopicNameException,
     "topic name must not have unmatched (unbalanced) curly braces '{}'"),
    (validate_topic_name, "{1a}", InvalidTopicNameException,
     "substitution name must not start with a number"),
    (validate_full_topic_name, "/", InvalidTopicNameException,
     "topic name must not end with a '/'"),
    (validate_full_topic_name, "a", InvalidTopicNameException,
     "topic name must be absolute, it must lead with a '/'"),
    (validate_full_topic_name, LONG, InvalidTopicNameException,
     "topic length should not exceed '255U - 8U'"),
])
def test_names_that_cannot_be(validate, name, kind, words):
    with pytest.raises(kind) as error:
        validate(name)
    assert error.value.error_msg == words


def test_the_place_that_is_wrong_is_marked():
    with pytest.raises(InvalidServiceNameException) as error:
        validate_topic_name("/count?", is_service=True)
    first, name, mark = str(error.value).splitlines()
    assert first.startswith("Invalid service name: ")
    assert name.index("?") == mark.index("^")


def test_a_tilde_needs_no_slash_behind_it():
    assert expand_topic_name("~tail", "dog", "/") == "/dogtail"
