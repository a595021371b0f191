"""The driver of the lidar."""
