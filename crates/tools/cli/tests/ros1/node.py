"""A node of real rospy that follows commands: one JSON object per line, one answer per operation; messages that
it receives are lines of their own, {"topic": ..., "message": ...}."""
import builtins
import hashlib
import importlib
import json
import queue
import socket
import struct
import sys
import threading
import xmlrpc.client
import xmlrpc.server

import actionlib
import actionlib.msg
import genpy
import genpy.dynamic
import rosgraph
import rosgraph.network
import rospy

lock = threading.Lock()
counts = {}
publishers = {}
subscribers = {}
servers = {}
clients = {}
defined = {}
unread = {}


def say(what):
    with lock:
        print(json.dumps(what), flush=True)


def load(name, kind):
    if (name, kind) in defined:
        return defined[name, kind]
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
    if topic in publishers:
        publishers[topic].unregister()
    publishers[topic] = rospy.Publisher(topic, load(type, "msg"), queue_size=100, latch=latch)


def publish(topic, fields):
    publishers[topic].publish(filled(publishers[topic].data_class, fields))


def publish_now(topic, fields):
    """Publishes if a subscriber is connected; returns whether one is."""
    if publishers[topic].get_num_connections() == 0:
        return False
    publish(topic, fields)
    return True


def define(type, text):
    """A message type that no package here has."""
    defined[type, "msg"] = genpy.dynamic.generate_dynamic(type, text)[type]


def define_service(type, request, response):
    """A service type that no package here has; as in ROS 1, its checksum covers both texts."""
    cls = {"_type": type, "_md5sum": hashlib.md5((request + response).encode()).hexdigest()}
    for part, text in [("request", request), ("response", response)]:
        name = f"{type}{part.capitalize()}"
        cls[f"_{part}_class"] = genpy.dynamic.generate_dynamic(name, text)[name]
    defined[type, "srv"] = builtins.type(type.split("/")[1], (), cls)


def log(text, level):
    getattr(rospy, level)(text)


def now():
    return rospy.get_rostime().to_sec()


def register(kind, name, type=None):
    """Registers only with the master, which accepts names that rospy would refuse."""
    master, own = rosgraph.Master(rospy.get_name()), rospy.get_node_uri()
    if kind == "service":
        master.registerService(name, "rosrpc://127.0.0.1:1", own)
    else:
        getattr(master, f"register{kind.capitalize()}")(name, type, own)


def subscribe(topic, type):
    def heard(message):
        latched = message._connection_header.get("latching") == "1"
        say({"topic": topic, "message": tree(message), "latched": latched})

    subscribers[topic] = rospy.Subscriber(topic, load(type, "msg"), heard)


def count(topic, type):
    """Subscribes and counts, up to and including the last texts."""
    counts[topic] = [0, ""]

    def heard(message):
        counts[topic] = [counts[topic][0] + 1, message.data[:10]]

    subscribers[topic] = rospy.Subscriber(topic, load(type, "msg"), heard)


def counted(topic):
    return counts[topic]


def leave(topic):
    subscribers.pop(topic).unregister()


def serve(service, type, answer):
    cls = load(type, "srv")
    answer_with = lambda request: filled(cls._response_class, dict(answer))  # noqa: E731
    servers[service] = rospy.Service(service, cls, answer_with)


def stop_serving(service):
    servers.pop(service).shutdown()


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
    """A type with the name std_msgs/String and another definition."""
    from std_msgs.msg import String

    class Other(String):
        _type = "std_msgs/String"
        _md5sum = "0123456789abcdef0123456789abcdef"

    rospy.Subscriber(topic, Other, lambda message: say({"topic": topic, "message": "wrong"}))


def fibonacci():
    """The classes of example_interfaces/Fibonacci: ROS 2's action, as genaction writes one for ROS 1."""
    text = actionlib.msg.TestAction._full_text
    for old, new in [
        ("actionlib/Test", "example_interfaces/Fibonacci"),
        ("Test", "Fibonacci"),
        ("int32 goal", "int32 order"),
        ("int32 result", "int32[] sequence"),
        ("int32 feedback", "int32[] sequence"),
    ]:
        text = text.replace(old, new)
    return genpy.dynamic.generate_dynamic("example_interfaces/FibonacciAction", text)


def load_action(name):
    if name == "example_interfaces/Fibonacci":
        return fibonacci()[name + "Action"]
    return load(name + "Action", "msg")


def serve_fibonacci(action):
    """Publishes feedback at once, and ends a goal on command or when asked to cancel; rejects orders below zero, and
    aborts 13."""
    classes = fibonacci()
    name = "example_interfaces/Fibonacci"
    goals = {}

    def sequence(order):
        numbers = [0, 1]
        while len(numbers) <= order:
            numbers.append(numbers[-1] + numbers[-2])
        return numbers

    def work(handle, wishes):
        order = handle.get_goal().order
        handle.publish_feedback(classes[name + "Feedback"](sequence=sequence(order // 2)))
        if order == 13:
            handle.set_aborted(classes[name + "Result"](sequence=[13]), "thirteen")
        elif wishes.get() == "cancel":
            handle.set_canceled(classes[name + "Result"](sequence=[0, 1]))
        else:
            handle.set_succeeded(classes[name + "Result"](sequence=sequence(order)))

    def goal(handle):
        if handle.get_goal().order < 0:
            return handle.set_rejected(text="an order below zero")
        handle.set_accepted()
        wishes = goals[handle.get_goal_id().id] = queue.Queue()
        threading.Thread(target=work, args=(handle, wishes), daemon=True).start()

    def cancel(handle):
        goals[handle.get_goal_id().id].put("cancel")

    servers[action] = (actionlib.ActionServer(action, classes[name + "Action"], goal, cancel, False), goals)
    servers[action][0].start()


def finish(action):
    for wishes in servers[action][1].values():
        wishes.put("finish")


def serve_lookup(action):
    """Answers with the frames of the request, and a time."""
    cls = load_action("tf2_msgs/LookupTransform")

    def execute(goal):
        result = type(cls().action_result.result)()
        result.transform.header.stamp = rospy.Time(7, 8)
        result.transform.header.frame_id = goal.target_frame
        result.transform.child_frame_id = goal.source_frame
        result.transform.transform.translation.y = goal.timeout.to_sec()
        result.error.error_string = "none" if goal.advanced else "simple"
        servers[action].set_succeeded(result)

    servers[action] = actionlib.SimpleActionServer(action, cls, execute, False)
    servers[action].start()


def send_goal(action, type, fields):
    """An ActionClient gives its callbacks the goal. A SimpleActionClient keeps the goal only after its publisher has
    sent it, and silently drops what a fast server sends earlier."""
    cls = load_action(type)
    client = actionlib.ActionClient(action, cls)
    assert client.wait_for_server(rospy.Duration(50))
    ended = queue.Queue()

    def transition(goal):
        if goal.get_comm_state() == actionlib.CommState.DONE:
            ended.put({"state": goal.get_goal_status(), "result": tree(goal.get_result())})

    def feedback(_goal, feedback):
        say({"topic": action, "message": tree(feedback)})

    goal = filled(cls().action_goal.goal.__class__, fields)
    clients[action] = (client, client.send_goal(goal, transition, feedback), ended)


def cancel_goal(action):
    _client, goal, _ended = clients[action]
    goal.cancel()


def await_result(action):
    _client, _goal, ended = clients[action]
    return ended.get(timeout=50)


def set_parameter(name, value):
    rospy.set_param(name, value)


def get_parameter(name):
    return rospy.get_param(name, None)


def parameter_names():
    return rospy.get_param_names()


def connect_without_reading(topic):
    """A subscriber with a small buffer that reads one message, and the others only on `read_numbers`."""
    master = rosgraph.Master(rospy.get_name())
    publisher = next(nodes[0] for name, nodes in master.getSystemState()[0] if name == topic)
    api = xmlrpc.client.ServerProxy(master.lookupNode(publisher))
    _, _, (_, host, port) = api.requestTopic(rospy.get_name(), topic, [["TCPROS"]])
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.connect((host, port))
    fields = {"callerid": "/slow", "topic": topic, "type": "*", "md5sum": "*"}
    rosgraph.network.write_ros_handshake_header(connection, fields)
    unread[topic] = connection.makefile("rb")
    (length,) = struct.unpack("<I", unread[topic].read(4))
    unread[topic].read(length)
    return read_number(topic)


def read_number(topic):
    """The first element of a UInt8MultiArray."""
    (length,) = struct.unpack("<I", unread[topic].read(4))
    # An empty layout has 8 bytes, and the length of the data 4.
    return unread[topic].read(length)[12]


def read_numbers(topic, last):
    """The messages up to and including the last one."""
    numbers = [read_number(topic)]
    while numbers[-1] != last:
        numbers.append(read_number(topic))
    return numbers


def hostile_publisher(topic, sent):
    """Registers as a publisher, and sends these bytes to each subscriber that connects."""
    listener = socket.create_server(("127.0.0.1", 0))
    api = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
    place = ["TCPROS", "127.0.0.1", listener.getsockname()[1]]
    api.register_function(lambda caller, topic, protocols: [1, "", place], "requestTopic")

    def serve():
        kept = []
        while True:
            connection, _ = listener.accept()
            try:
                connection.sendall(bytes.fromhex(sent))
            except OSError:
                pass  # it did not read all of it
            kept.append(connection)

    for run in [serve, api.serve_forever]:
        threading.Thread(target=run, daemon=True).start()
    uri = f"http://127.0.0.1:{api.server_address[1]}/"
    # The type that matches any type; each has a name of its own, since a node of ROS 1 has one
    # address.
    rosgraph.Master("/hostile" + topic.replace("/", "_")).registerPublisher(topic, "std_msgs/String", uri)


def hostile_subscriber(topic, sent):
    """Sends these bytes to the first publisher, and returns its answer until it ends the connection."""
    master = rosgraph.Master(rospy.get_name())
    publisher = next(nodes[0] for name, nodes in master.getSystemState()[0] if name == topic)
    api = xmlrpc.client.ServerProxy(master.lookupNode(publisher))
    _, _, (_, host, port) = api.requestTopic(rospy.get_name(), topic, [["TCPROS"]])
    with socket.create_connection((host, port)) as connection:
        connection.sendall(bytes.fromhex(sent))
        answer = b""
        try:
            while block := connection.recv(65536):
                answer += block
        except ConnectionResetError:
            pass  # it did not read all that was sent
    return answer.decode(errors="replace")


def main():
    has_log = "--log" in sys.argv
    rospy.init_node(sys.argv[1], disable_signals=True, disable_rosout=not has_log)
    say({"ready": True})
    for line in sys.stdin:
        operation = json.loads(line)
        name = operation.pop("do")
        say({"done": globals()[name](**operation)})


main()
