"""The functions that stock has for an old numpy, from the numpy that is needed here."""

from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured

__all__ = ['structured_to_unstructured', 'unstructured_to_structured']
