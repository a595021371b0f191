"""Puts Feros's packages with stock names first on the path, for these tests only. The stock nodes
in `peers` run as separate processes."""

import sys
from pathlib import Path

import pytest

import feros

COMPATIBLE = Path(feros.__file__).parent / "compat"
sys.path.insert(0, str(COMPATIBLE))


@pytest.fixture
def node(request):
    """A node with its own context."""
    import rclpy

    with rclpy.init(args=[]):
        made = rclpy.create_node("tested")
        yield made


@pytest.fixture
def spin_until(node, eventually):
    """Spins the node until a condition holds."""
    import rclpy

    return lambda condition: eventually(
        condition, lambda: rclpy.spin_once(node, timeout_sec=0.1))
