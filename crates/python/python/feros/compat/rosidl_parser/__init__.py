"""The descriptions of types that message classes have in `SLOT_TYPES`; no parser."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)
