"""The plugin of pytest: the fixture `ros`, and the output of launches when a test fails.

pytest imports this file in each of its runs, so the rest is imported when a test needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import pytest

if TYPE_CHECKING:
    from feros.testing import Harness

_HARNESS: Any = pytest.StashKey()


@pytest.fixture
def ros(request: pytest.FixtureRequest) -> Iterator[Harness]:
    """A ROS domain for this test, in which it launches, spins, listens and publishes."""
    from feros.testing import Harness

    with Harness(request.path) as harness:
        request.node.stash[_HARNESS] = harness
        yield harness


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds the output of the test's launches to the report of a failure."""
    outcome: Any = yield
    report = outcome.get_result()
    harness = item.stash.get(_HARNESS, None)
    if harness is not None and report.failed:
        report.sections.extend(
            (f"Output of {title}", text) for title, text in harness.reports())
