"""Nodes and tools in Python."""
