"""The type descriptions in `SLOT_TYPES` of message classes; there is no parser."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)
