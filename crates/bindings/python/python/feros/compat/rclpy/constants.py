"""Numbers that several modules share."""

S_TO_NS = 1_000_000_000
"""The nanoseconds of a second."""
