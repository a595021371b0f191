"""Messages of sensors as arrays of numpy, by the names of stock's `sensor_msgs_py`."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)
