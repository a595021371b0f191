"""Sensor messages as numpy arrays, with the names of stock `sensor_msgs_py`."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)
