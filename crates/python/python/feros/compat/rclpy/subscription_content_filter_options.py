"""What a subscription asks its publishers for."""

from typing import List, NamedTuple


class ContentFilterOptions(NamedTuple):
    """A condition on fields, by the SQL subset of DDS, and what stands for `%0`, `%1`, ...."""

    filter_expression: str
    expression_parameters: List[str]
