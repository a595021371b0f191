"""Keeps the robot from driving too fast."""
