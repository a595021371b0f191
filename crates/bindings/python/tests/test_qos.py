"""Both profiles of Python have every policy of the list that the Rust side keeps."""

import re
from pathlib import Path

import feros
import pytest

LIST = Path(__file__).parents[3] / "engines/engine/src/qos/list.rs"


def policies():
    names = re.findall(r'Self::\w+ => "(\w+)"', LIST.read_text(encoding="utf-8"))
    assert len(names) == len(set(names)) > 8
    return set(names)


def test_the_native_profile_has_every_policy():
    assert set(feros.QoSProfile.__slots__) == policies()


def test_the_profile_of_rclpy_has_every_policy():
    from rclpy.qos import QoSProfile

    assert {slot.removeprefix("_") for slot in QoSProfile.__slots__} == policies()


@pytest.mark.parametrize("policy", sorted(policies()))
def test_each_policy_comes_back(policy):
    values = {
        "depth": 7,
        "history": feros.History.KEEP_ALL,
        "reliability": feros.Reliability.BEST_EFFORT,
        "durability": feros.Durability.TRANSIENT_LOCAL,
        "liveliness": feros.Liveliness.MANUAL_BY_TOPIC,
        "avoid_ros_namespace_conventions": True,
    }
    given = feros.QoSProfile(**{policy: values.get(policy, 3.5)})
    assert given != feros.QoSProfile()
    assert feros.QoSProfile._of(given._tuple()) == given
