#!/usr/bin/env python3
"""Feros as Python programs use it.

`--form array`: messages with their own arrays, as in `rclpy`. `numpy`: arrays are read directly from the received message, and
written directly into loaned memory. `asyncio`: messages come from an event loop.
"""

import asyncio
import os
import sys
from array import array
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402

LOOK_SECONDS = 0.2
ARGUMENTS = contract.parse(sys.argv[1:], [("form", ["array", "numpy", "asyncio"], "array")])

try:
    import feros
    from feros.msgs.std_msgs.msg import String, UInt8MultiArray
except ImportError as missing:
    contract.hello(ARGUMENTS, "feros in Python", "not installed")
    contract.error("failed", f"feros cannot be imported: {missing}")

TYPE = String if ARGUMENTS.type == "string" else UInt8MultiArray


def qos():
    return feros.QoSProfile(
        ARGUMENTS.depth,
        history=feros.History.KEEP_ALL if ARGUMENTS.history == "keep_all" else feros.History.KEEP_LAST,
        reliability=feros.Reliability.RELIABLE if ARGUMENTS.reliability == "reliable" else feros.Reliability.BEST_EFFORT,
        durability=feros.Durability.TRANSIENT_LOCAL
        if ARGUMENTS.durability == "transient_local"
        else feros.Durability.VOLATILE,
        deadline=ARGUMENTS.deadline_ms / 1000 if ARGUMENTS.deadline_ms > 0 else None,
    )


class Sender(contract.Sender):
    def __init__(self, node, topic):
        self.publisher = node.create_publisher(TYPE, topic, qos())
        super().__init__(ARGUMENTS, lambda: self.publisher.subscription_count)

    def send_all(self):
        if ARGUMENTS.form == "numpy" and ARGUMENTS.type != "string":
            self.send_loans()
        elif ARGUMENTS.type == "string":
            self.send_texts()
        else:
            message = TYPE(data=array("B", contract.payload(ARGUMENTS)))
            for number in contract.pace(ARGUMENTS):
                at = contract.stamp(ARGUMENTS, message.data, number)
                self.publisher.publish(message)
                self.published.note(number, at)
        self.wait_for_acknowledgements()

    def send_texts(self):
        rest = contract.text_payload(ARGUMENTS, 0)
        for number in contract.pace(ARGUMENTS):
            rest = contract.text_payload(ARGUMENTS, number) if ARGUMENTS.fill == "each" else rest
            at = contract.now_nanos()
            self.publisher.publish(TYPE(data=contract.text_stamp(at, number) + rest))
            self.published.note(number, at)

    def send_loans(self):
        shape = {"data": ARGUMENTS.size}
        for number in contract.pace(ARGUMENTS):
            loan = self.publisher.loan(shape)
            at = contract.stamp(ARGUMENTS, loan.data, number)
            loan.publish()
            self.published.note(number, at)

    def wait_for_acknowledgements(self):
        if ARGUMENTS.reliability == "reliable":
            self.publisher.wait_for_all_acked(2)


class Listener:
    def __init__(self, node, topic, relay_to=None):
        self.samples = contract.Samples(ARGUMENTS, ARGUMENTS.index)
        self.relay_to = relay_to
        self.kept = node.create_subscription(TYPE, topic, self.note, qos(), views=ARGUMENTS.form == "numpy")

    def note(self, message):
        now = contract.now_nanos()
        self.samples.note(message.data, now)
        if self.relay_to is not None:
            at = contract.now_nanos()
            self.relay_to.publisher.publish(message)
            self.relay_to.published.note(self.relay_to.published.sent, at)


def new_executor():
    return feros.Executor(threads=0 if ARGUMENTS.executor == "multi" else 1)


def spin_until(node, is_over):
    """Checks only now and then whether the laboratory has stopped the program."""
    with new_executor() as executor:
        executor.add_node(node)
        looked = contract.now_nanos()
        while not is_over():
            executor.spin_once(LOOK_SECONDS)
            now = contract.now_nanos()
            if now - looked > LOOK_SECONDS * 1e9:
                looked = now
                if contract.wait_stopped(ARGUMENTS):
                    return


def talker(context):
    Sender(context.create_node("talker"), ARGUMENTS.topic).talk()


def listener(context):
    node = context.create_node(f"listener_{ARGUMENTS.index}")
    if ARGUMENTS.form == "asyncio":
        asyncio.run(listen(node))
        return
    made = Listener(node, ARGUMENTS.topic)
    contract.ready()
    spin_until(node, made.samples.is_done)
    contract.end(None, [made.samples])


async def listen(node):
    samples = contract.Samples(ARGUMENTS, ARGUMENTS.index)
    stream = node.subscribe(TYPE, ARGUMENTS.topic, qos())
    contract.ready()

    async def look():
        while not contract.wait_stopped(ARGUMENTS):
            await asyncio.sleep(LOOK_SECONDS)
        stream.close()

    looking = asyncio.ensure_future(look())
    while not samples.is_done():
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                message = await stream.next()
        except TimeoutError:
            continue
        except feros.ShutdownError:
            break
        samples.note(message.data, contract.now_nanos())
    looking.cancel()
    contract.end(None, [samples])


def relay(context):
    node = context.create_node(f"relay_{ARGUMENTS.index}")
    sender = Sender(node, ARGUMENTS.to)
    made = Listener(node, ARGUMENTS.topic, sender)
    sender.wait_for(1, seconds=5)
    contract.ready()
    spin_until(node, made.samples.is_done)
    sender.wait_for_acknowledgements()
    contract.end(sender.published, [made.samples])


def nodes(context):
    with new_executor() as executor:
        for index in range(ARGUMENTS.nodes):
            executor.add_node(context.create_node(f"idle_{os.getpid()}_{index}"))
        contract.ready()
        while not contract.wait_stopped(ARGUMENTS):
            executor.spin_once(LOOK_SECONDS)
        contract.end()


def main():
    version = f"{feros.__version__}, Python {sys.version_info.major}.{sys.version_info.minor}"
    contract.hello(ARGUMENTS, "feros in Python", version)
    roles = {"talker": talker, "listener": listener, "relay": relay, "nodes": nodes}
    if ARGUMENTS.role not in roles or ARGUMENTS.executor == "isolated":
        contract.error("unsupported", f"there is no role {ARGUMENTS.role} with the executor {ARGUMENTS.executor}")
    try:
        with feros.Context([]) as context:
            roles[ARGUMENTS.role](context)
    except Exception as failure:  # whatever it is, it is a result of this run
        contract.error("failed", f"{type(failure).__name__}: {failure}")


main()
