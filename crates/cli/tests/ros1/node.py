"""A node of real rospy that does what it is told: one JSON object per line, one answer per operation; messages that
it receives are lines of their own, {"topic": ..., "message": ...}."""
import hashlib
import importlib
import json
import sys
import threading

import genpy
import rospy

lock = threading.Lock()
publishers = {}


def say(what):
    with lock:
        print(json.dumps(what), flush=True)


def load(name, kind):
    package, name = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


def tree(value):
    if isinstance(value, genpy.Message):
        return {slot: tree(getattr(value, slot)) for slot in value.__slots__}
    if isinstance(value, (genpy.Time, genpy.Duration)):
        return [value.secs, value.nsecs]
    if isinstance(value, bytes):
        return {"len": len(value), "md5": hashlib.md5(value).hexdigest()}
    if isinstance(value, (list, tuple)):
        return [tree(element) for element in value]
    return value


def filled(cls, fields):
    message = cls()
    length = fields.pop("data_bytes", None)
    genpy.message.fill_message_args(message, [fields] if fields else [])
    if length is not None:
        message.data = bytes(index % 251 for index in range(length))
    return message


def advertise(topic, type, latch=False):
    publishers[topic] = rospy.Publisher(topic, load(type, "msg"), queue_size=100, latch=latch)


def publish(topic, fields):
    publishers[topic].publish(filled(publishers[topic].data_class, fields))


def publish_now(topic, fields):
    """Whether somebody was connected; only then it is published."""
    if publishers[topic].get_num_connections() == 0:
        return False
    publish(topic, fields)
    return True


def subscribe(topic, type):
    def heard(message):
        latched = message._connection_header.get("latching") == "1"
        say({"topic": topic, "message": tree(message), "latched": latched})

    rospy.Subscriber(topic, load(type, "msg"), heard)


def serve(service, type, answer):
    cls = load(type, "srv")
    rospy.Service(service, cls, lambda request: filled(cls._response_class, dict(answer)))


def fail(service, type):
    def handler(request):
        raise rospy.ServiceException("no")

    rospy.Service(service, load(type, "srv"), handler)


def call(service, type, fields):
    rospy.wait_for_service(service, 50)
    cls = load(type, "srv")
    try:
        return tree(rospy.ServiceProxy(service, cls)(filled(cls._request_class, fields)))
    except rospy.ServiceException as error:
        return {"error": str(error)}


def subscribe_other(topic):
    """A type of the name std_msgs/String with another definition."""
    from std_msgs.msg import String

    class Other(String):
        _type = "std_msgs/String"
        _md5sum = "0123456789abcdef0123456789abcdef"

    rospy.Subscriber(topic, Other, lambda message: say({"topic": topic, "message": "wrong"}))


def set_parameter(name, value):
    rospy.set_param(name, value)


def main():
    rospy.init_node(sys.argv[1], disable_signals=True, disable_rosout=True)
    say({"ready": True})
    for line in sys.stdin:
        operation = json.loads(line)
        name = operation.pop("do")
        say({"done": globals()[name](**operation)})


main()
