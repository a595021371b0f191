"""Functions that stock sensor_msgs_py implements for old versions of numpy; here they come from
numpy."""

from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured

__all__ = ['structured_to_unstructured', 'unstructured_to_structured']
