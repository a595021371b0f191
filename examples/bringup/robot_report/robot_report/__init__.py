"""Reports about the robot: what it drives, and where its packages are."""
