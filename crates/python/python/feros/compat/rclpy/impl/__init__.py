"""What scripts reach into though it is not public."""
