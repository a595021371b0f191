"""The errors of tests."""


class NotInTime(AssertionError):
    """An expected event did not happen in time. The text says what the test found instead."""


class LaunchFailed(AssertionError):
    """A launch did not start, or ended with an error."""
