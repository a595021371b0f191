"""The errors of tests."""


class NotInTime(AssertionError):
    """What a test waits for did not happen within its time. The text says what there was."""


class LaunchFailed(AssertionError):
    """A launch could not be started, or ended with an error."""
