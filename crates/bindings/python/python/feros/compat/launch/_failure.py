"""The error of a substitution that has no text."""


class SubstitutionFailure(RuntimeError):
    """A substitution cannot be evaluated."""

    __module__ = 'launch.substitutions'
