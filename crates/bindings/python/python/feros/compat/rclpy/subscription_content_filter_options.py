"""The content filter of a subscription."""

from typing import List, NamedTuple


class ContentFilterOptions(NamedTuple):
    """A condition on fields, in the SQL subset of DDS, and the values of `%0`, `%1`, ...."""

    filter_expression: str
    expression_parameters: List[str]
