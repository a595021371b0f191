"""The limiter beside wheels that the test plays: `pytest`, after `feros build`, with the wheel."""

import feros
from robot_msgs.msg import WheelSpeeds
from robot_msgs.srv import SetLimit


def test_wheels_that_are_too_fast_are_limited(ros):
    limits = []

    def set_limit(request):
        limits.append(request.limit)
        return SetLimit.Response()

    def drive():
        ros.publish("wheel_speeds", WheelSpeeds(left=3.0, right=3.0))
        return limits

    wheels = feros.Node("wheels", context=ros.context)
    wheels.create_service(SetLimit, "set_limit", set_limit)
    ros.spin(wheels)
    ros.run("robot_safety", "limiter", "--ros-args", "-p", "limit:=2.0")
    ros.wait_until(drive, "a limit")
    assert limits[0] == 2.0
