#!/usr/bin/env python3
"""Stock ROS 2 as Python programs use it: rclpy with its executors, on Fast DDS.

`--executor` is single, multi or isolated (a thread and an executor for each node) as in the contract. `--events yes`
takes rclpy's EventsExecutor instead of the executors with wait sets, and only on the main thread, because on another
thread it does not end.
"""

import faulthandler
import importlib.metadata
import importlib.util
import os
import sys
import threading
from array import array
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))  # at the end, since a folder there has the name of ROS 2's library
import contract  # noqa: E402

LOOK_SECONDS = 0.2
# On a busy machine, rclpy sometimes does not end after the last line of output; then the stack of each thread is written to
# standard error.
END_SECONDS = 20
ARGUMENTS = contract.parse(sys.argv[1:], [("events", ["no", "yes"], "no")])

if ARGUMENTS.publish != "default":  # read by the library when it is loaded
    os.environ["RMW_FASTRTPS_PUBLICATION_MODE"] = "SYNCHRONOUS" if ARGUMENTS.publish == "sync" else "ASYNCHRONOUS"

try:
    import rclpy
    from rclpy.duration import Duration
    from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
    from std_msgs.msg import String, UInt8MultiArray
    from std_srvs.srv import Trigger
except ImportError as missing:
    contract.hello(ARGUMENTS, "rclpy", "not installed")
    contract.error("failed", f"rclpy cannot be imported: {missing}")

TYPE = String if ARGUMENTS.type == "string" else UInt8MultiArray


def version():
    rmw = rclpy.get_rmw_implementation_identifier()
    names = {"rclpy": "ros-rclpy"}
    if rmw == "rmw_fastrtps_cpp":
        # Fast DDS 2, as in Jazzy, has another name.
        fast_dds = "ros-fastrtps" if importlib.util.find_spec("fastrtps") else "ros-fastdds"
        names |= {rmw: "ros-rmw-fastrtps-cpp", "Fast DDS": fast_dds}
    found = []
    for title, package in names.items():
        try:
            found.append(f"{title} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(title)
    if rmw != "rmw_fastrtps_cpp":
        found.append(rmw)
    return ", ".join(found) + f", Python {sys.version_info.major}.{sys.version_info.minor}"


def qos():
    profile = QoSProfile(
        history=HistoryPolicy.KEEP_ALL if ARGUMENTS.history == "keep_all" else HistoryPolicy.KEEP_LAST,
        depth=ARGUMENTS.depth,
        reliability=ReliabilityPolicy.RELIABLE if ARGUMENTS.reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if ARGUMENTS.durability == "transient_local"
        else DurabilityPolicy.VOLATILE,
    )
    if ARGUMENTS.deadline_ms > 0:
        profile.deadline = Duration(nanoseconds=int(ARGUMENTS.deadline_ms * 1e6))
    return profile


def new_executor(kind):
    if ARGUMENTS.events == "yes":
        from rclpy.experimental.events_executor import EventsExecutor

        return EventsExecutor()
    return MultiThreadedExecutor(max(os.cpu_count() or 2, 2)) if kind == "multi" else SingleThreadedExecutor()


class Spinning:
    """One executor for all nodes, or an executor and a thread for each node."""

    def __init__(self, kind):
        self.kind = kind
        self.executors = [] if kind == "isolated" else [new_executor(kind)]
        self.threads = []

    def add(self, node):
        if self.kind == "isolated":
            self.executors.append(new_executor("single"))
        self.executors[-1].add_node(node)

    def start(self):
        def spin(executor):
            try:
                executor.spin()
            except ExternalShutdownException:
                pass

        for executor in self.executors:
            # The end of the program does not wait for this thread, since an executor may not notice that it must stop.
            self.threads.append(threading.Thread(target=spin, args=(executor,), daemon=True))
            self.threads[-1].start()

    def stop(self):
        for executor in self.executors:
            executor.shutdown(timeout_sec=2)
        for thread in self.threads:
            thread.join(5)

    def until(self, is_over):
        """Spins on this thread if there is one executor; checks only now and then whether the laboratory stops the program."""
        if self.kind == "isolated":
            self.start()
            while not is_over() and not contract.wait_stopped(ARGUMENTS, 0.02):
                pass
            self.stop()
            return
        looked = contract.now_nanos()
        while not is_over() and rclpy.ok():
            self.executors[0].spin_once(timeout_sec=LOOK_SECONDS)
            now = contract.now_nanos()
            if now - looked > LOOK_SECONDS * 1e9:
                looked = now
                if contract.wait_stopped(ARGUMENTS):
                    return


class Sender(contract.Sender):
    def __init__(self, node, topic):
        self.publisher = node.create_publisher(TYPE, topic, qos())
        super().__init__(ARGUMENTS, self.publisher.get_subscription_count)

    def send_all(self):
        message = TYPE()
        if ARGUMENTS.type == "string":
            rest = contract.text_payload(ARGUMENTS, 0)
        else:
            message.data = array("B", contract.payload(ARGUMENTS))
            data = message.data
        for number in contract.pace(ARGUMENTS):
            if ARGUMENTS.type == "string":
                rest = contract.text_payload(ARGUMENTS, number) if ARGUMENTS.fill == "each" else rest
                at = contract.now_nanos()
                message.data = contract.text_stamp(at, number) + rest
            else:
                at = contract.stamp(ARGUMENTS, data, number)
            self.publisher.publish(message)
            self.published.note(number, at)
        self.wait_for_acknowledgements()

    def wait_for_acknowledgements(self):
        if ARGUMENTS.reliability == "reliable":
            self.publisher.wait_for_all_acked(Duration(seconds=2))


def subscribe(node, topic, samples, relay_to=None):
    def callback(message):
        now = contract.now_nanos()
        samples.note(message.data, now)
        if relay_to is not None:
            at = contract.now_nanos()
            relay_to.publisher.publish(message)
            relay_to.published.note(relay_to.published.sent, at)

    return node.create_subscription(TYPE, topic, callback, qos())


def talker():
    Sender(rclpy.create_node("talker"), ARGUMENTS.topic).talk()


def listener_or_relay():
    is_relay = ARGUMENTS.role == "relay"
    node = rclpy.create_node(f"{ARGUMENTS.role}_{ARGUMENTS.index}")
    sender = Sender(node, ARGUMENTS.to) if is_relay else None
    samples = contract.Samples(ARGUMENTS, ARGUMENTS.index)
    subscription = subscribe(node, ARGUMENTS.topic, samples, sender)
    spinning = Spinning(ARGUMENTS.executor)
    spinning.add(node)
    if is_relay:
        sender.wait_for(1, seconds=5)
    contract.ready()
    spinning.until(samples.is_done)
    if is_relay:
        sender.wait_for_acknowledgements()
    contract.end(sender.published if is_relay else None, [samples])
    del subscription


def pair():
    spinning = Spinning(ARGUMENTS.executor)
    sender = Sender(rclpy.create_node("talker"), ARGUMENTS.topic)
    samples, kept = [], []
    for index in range(ARGUMENTS.subscriptions):
        node = rclpy.create_node(f"listener_{index}")
        samples.append(contract.Samples(ARGUMENTS, index))
        kept.append(subscribe(node, ARGUMENTS.topic, samples[-1]))
        spinning.add(node)
    spinning.start()
    sender.wait_for(len(samples))
    contract.ready()
    sender.send_all()
    contract.wait_received(ARGUMENTS, samples, sender.published.sent)
    spinning.stop()
    contract.end(sender.published, samples)


def chain():
    spinning = Spinning("isolated" if ARGUMENTS.executor == "default" else ARGUMENTS.executor)
    senders = [Sender(rclpy.create_node("node_0"), f"{ARGUMENTS.topic}_0")]
    last, kept = contract.Samples(ARGUMENTS, 0), []
    for index in range(1, ARGUMENTS.nodes):
        node = rclpy.create_node(f"node_{index}")
        relay_to, samples = None, last
        if index + 1 < ARGUMENTS.nodes:
            relay_to, samples = Sender(node, f"{ARGUMENTS.topic}_{index}"), contract.Samples(ARGUMENTS, 0)
            relay_to.published.rows.keeps = samples.rows.keeps = False
            senders.append(relay_to)
        kept.append(subscribe(node, f"{ARGUMENTS.topic}_{index - 1}", samples, relay_to))
        spinning.add(node)
    spinning.start()
    for sender in senders:
        sender.wait_for(1)
    contract.ready()
    senders[0].send_all()
    contract.wait_received(ARGUMENTS, [last], senders[0].published.sent)
    spinning.stop()
    contract.end(senders[0].published, [last])


def nodes():
    spinning = Spinning(ARGUMENTS.executor)
    for index in range(ARGUMENTS.nodes):
        spinning.add(rclpy.create_node(f"idle_{os.getpid()}_{index}"))
    contract.ready()
    spinning.until(lambda: False)
    contract.end()


def serve(node):
    """A service whose responses have a string of `--size` characters."""
    if ARGUMENTS.type != "string":
        contract.error("unsupported", "a response is a string: --type string")
    text = "z" * ARGUMENTS.size

    def answer(_, response):
        response.success, response.message = True, text
        return response

    return node.create_service(Trigger, ARGUMENTS.topic, answer)


def server():
    spinning = Spinning(ARGUMENTS.executor)
    node = rclpy.create_node("server")
    service = serve(node)
    spinning.add(node)
    contract.ready()
    spinning.until(lambda: False)
    contract.end()
    del service


def client():
    """Makes calls, one after the other; a sample is the time from before a call until its response has come."""
    node, executor = rclpy.create_node("client"), new_executor("single")
    executor.add_node(node)
    calls = node.create_client(Trigger, ARGUMENTS.topic)
    while not calls.service_is_ready():
        if contract.wait_stopped(ARGUMENTS, 0.002):
            contract.error("not-matched", "the server was not found in time")
    samples, published = contract.Samples(ARGUMENTS, 0), contract.Published(ARGUMENTS)
    contract.ready()
    for number in contract.pace(ARGUMENTS):
        at = contract.now_nanos()
        future = calls.call_async(Trigger.Request())
        executor.spin_until_future_complete(future)
        now = contract.now_nanos()
        if len(future.result().message) != ARGUMENTS.size:
            contract.error("failed", f"a response has {len(future.result().message)} characters")
        samples.note_sample(number, now - at, now)
        published.note(number, at)
    contract.end(published, [samples])


def calls():
    """A server with its own thread, and a client."""
    spinning = Spinning(ARGUMENTS.executor)
    node = rclpy.create_node("server")
    service = serve(node)
    spinning.add(node)
    spinning.start()
    client()
    spinning.stop()
    del service


def main():
    contract.hello(ARGUMENTS, "rclpy", version())
    wanted, loaded = os.environ.get("RMW_IMPLEMENTATION"), rclpy.get_rmw_implementation_identifier()
    if wanted not in (None, loaded):
        contract.error("failed", f"RMW_IMPLEMENTATION is {wanted} and {loaded} is loaded: was its library built?")
    roles = {
        "talker": talker, "listener": listener_or_relay, "relay": listener_or_relay,
        "pair": pair, "chain": chain, "nodes": nodes, "server": server, "client": client, "calls": calls,
    }
    on_thread = ARGUMENTS.role in ("pair", "chain", "calls") or ARGUMENTS.executor == "isolated"
    if ARGUMENTS.events == "yes" and on_thread:
        contract.error("unsupported", "rclpy's executor of events is measured only on the main thread")
    if ARGUMENTS.role not in roles or ARGUMENTS.placement == "intra":
        contract.error("unsupported", f"rclpy has no role {ARGUMENTS.role} with placement {ARGUMENTS.placement}")
    rclpy.init(args=[])
    try:
        roles[ARGUMENTS.role]()
    except Exception as failure:  # whatever it is, it is a result of this run
        contract.error("failed", f"{type(failure).__name__}: {failure}")
    sys.stdout.flush()
    faulthandler.dump_traceback_later(END_SECONDS, exit=True)
    rclpy.try_shutdown()


main()
