#!/usr/bin/env python3
"""HORUS, whose nodes share memory, through its package for Python. ../README.md is the contract.

Fairness: `bytes` is HORUS's own type for much data, an image of one row: its pixels are in a pool in shared memory, where the
talker writes them and subscriptions read them, without a copy. `string` is a message without a type of its own, a `str`, which
HORUS turns into MessagePack; such a message has at most 4096 bytes. HORUS does not wake another process when a message
comes (HORUS 0.4.1 does not call a node with `on=TOPIC` for messages of another process), so a subscription is a node whose tick
takes all messages, at 1000 Hz, the default rate of the scheduler: a message then waits up to 1 ms for the next tick. With
`--form busy`, a loop takes messages without a pause, and keeps one processor busy.

QoS: the depth is the capacity of a topic. A subscription that falls behind loses messages, for reliable and best effort alike.
Transient local and deadlines do not exist. The publisher's thread writes, so the mode is `sync`.
"""

import fcntl
import os
import shutil
import struct
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402

ARGUMENTS = contract.parse(sys.argv[1:], [("form", ["node", "busy"], "node")])
# The library writes to standard output, which is reserved for the contract.
_own = os.dup(1)
os.dup2(2, 1)
sys.stdout = os.fdopen(_own, "w")

import horus  # noqa: E402
import numpy  # noqa: E402, F401: an image imports it at its first use, in the middle of a run

TICKS_HZ = 1000
LOOK_SECONDS = 0.05
LOOKS_UNTIL_READY = 3
LINGER_SECONDS = 0.2
# A relay waits this long for a subscription to its output. The talker cannot see this subscription.
ONWARD_SECONDS = 5
# A message has 4096 bytes, of which MessagePack needs three beside the characters of a string.
LARGEST_TEXT = 4096 - 3
IS_TEXT = ARGUMENTS.type == "string"
SHARED_MEMORY = Path("/dev/shm")


class Folder:
    """The folder of a run in shared memory. HORUS leaves its pool of a gibibyte there, so the last program removes it."""

    def __init__(self):
        for lock in SHARED_MEMORY.glob("feros_lab_horus_*"):
            self.remove_if_unused(lock)  # a run that was killed leaves its folder behind
        self.path = SHARED_MEMORY / f"feros_lab_horus_{os.environ.get('HORUS_NAMESPACE', 'default')}"
        self.lock = self.locked()

    def locked(self):
        # Another program may remove the file between both steps; the lock is then on a file without a name.
        while True:
            lock = open(self.path, "w")
            fcntl.flock(lock, fcntl.LOCK_SH)
            if os.fstat(lock.fileno()).st_nlink > 0:
                return lock
            lock.close()

    def leave(self):
        self.lock.close()
        self.remove_if_unused(self.path)

    @staticmethod
    def remove_if_unused(path):
        try:
            with open(path) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                namespace = path.name.removeprefix("feros_lab_horus_")
                if namespace.startswith("feros_lab_"):
                    shutil.rmtree(SHARED_MEMORY / f"horus_{namespace}", ignore_errors=True)
                path.unlink()
        except OSError:
            pass  # another program uses the folder, or has removed it


def new_topic(name):
    return horus.Topic(name, ARGUMENTS.depth) if IS_TEXT else horus.Topic(horus.Image, ARGUMENTS.depth, endpoint=name)


class Sender(contract.Sender):
    def __init__(self, name):
        self.topic = new_topic(name)
        super().__init__(ARGUMENTS, self.topic.sub_count)

    def send_text(self, number):
        rest = contract.text_payload(ARGUMENTS, number)
        at = contract.now_nanos()
        self.topic.send(contract.text_stamp(at, number) + rest)
        return at

    def send_image(self, number):
        at = contract.now_nanos()
        image = horus.Image(1, ARGUMENTS.size, "mono8")
        pixels = image.to_numpy().reshape(-1)
        if ARGUMENTS.fill == "each":
            at = contract.stamp(ARGUMENTS, pixels, number)
        else:
            struct.pack_into("<QQ", pixels, 0, at, number)
        self.topic.send(image)
        return at

    def send_all(self):
        send = self.send_text if IS_TEXT else self.send_image
        for number in contract.pace(ARGUMENTS):
            self.published.note(number, send(number))
        # The pool belongs to the talker's process, so messages that no subscription has read by its end are lost.
        contract.wait_stopped(ARGUMENTS, LINGER_SECONDS)


class Receiver:
    def __init__(self, name, relay_to=None):
        self.topic, self.relay_to = new_topic(name), relay_to
        self.samples = contract.Samples(ARGUMENTS, ARGUMENTS.index)
        self.is_over, self.looks = threading.Event(), 0

    def look(self):
        """Takes all messages. The program is ready once the loop runs: a topic changes its form when a subscription joins, and a
        subscription takes part in that when it looks."""
        self.looks += 1
        self.take_all()
        if self.looks == LOOKS_UNTIL_READY:
            contract.ready()

    def take_all(self):
        while (message := self.topic.recv()) is not None:
            now = contract.now_nanos()
            payload = message if IS_TEXT else memoryview(message.to_numpy().reshape(-1))
            if self.relay_to is not None:
                self.relay_to.topic.send(message)
                self.relay_to.published.note(contract.read_stamp(ARGUMENTS, payload)[1], now)
            self.samples.note(payload, now)

    def run(self):
        """Runs until the last message, or until the program has to stop."""
        scheduler = horus.Scheduler(tick_rate=TICKS_HZ)

        def wait():
            while not self.samples.is_done() and not contract.wait_stopped(ARGUMENTS, LOOK_SECONDS):
                pass
            self.is_over.set()
            if ARGUMENTS.form == "node":
                scheduler.stop()

        waiting = threading.Thread(target=wait)
        if ARGUMENTS.form == "node":
            scheduler.add(horus.Node(name=f"listener_{os.getpid()}", tick=lambda _: self.look(), rate=TICKS_HZ))
        waiting.start()
        if ARGUMENTS.form == "node":
            scheduler.run()
        while not self.is_over.is_set():
            self.look()
        waiting.join()


def talker():
    sender = Sender(ARGUMENTS.topic)
    sender.wait_for(ARGUMENTS.matched)
    contract.ready()
    sender.send_all()
    return sender.published, []


def listener():
    sender = Sender(ARGUMENTS.to) if ARGUMENTS.role == "relay" else None
    receiver = Receiver(ARGUMENTS.topic, sender)
    if sender is not None:
        sender.wait_for(1, ONWARD_SECONDS)
    receiver.run()
    return sender and sender.published, [receiver.samples]


def nodes():
    """Nodes without topics, at the default rate of a node."""
    scheduler = horus.Scheduler(tick_rate=TICKS_HZ)
    for number in range(ARGUMENTS.nodes):
        scheduler.add(horus.Node(name=f"node_{os.getpid()}_{number}", tick=lambda _: None))

    def wait():
        contract.ready()
        while not contract.wait_stopped(ARGUMENTS, 3600):
            pass
        scheduler.stop()

    waiting = threading.Thread(target=wait)
    waiting.start()
    scheduler.run()
    waiting.join()
    return None, []


def main():
    version = horus.get_version().split()[-1].removeprefix("v")
    contract.hello(ARGUMENTS, "horus", f"HORUS {version} (Python)")
    roles = {"talker": talker, "listener": listener, "relay": listener, "nodes": nodes}
    if ARGUMENTS.role not in roles or ARGUMENTS.placement != "local":
        contract.error("unsupported", f"there is no role {ARGUMENTS.role} with placement {ARGUMENTS.placement}")
    if IS_TEXT and ARGUMENTS.size > LARGEST_TEXT:
        contract.error("unsupported", f"a string of HORUS has at most {LARGEST_TEXT} characters")
    if ARGUMENTS.durability != "volatile" or ARGUMENTS.history != "keep_last" or ARGUMENTS.publish == "async":
        contract.error("unsupported", "HORUS has no such QoS")
    if ARGUMENTS.executor != "default":
        contract.error("unsupported", "HORUS has one scheduler")
    folder = Folder()
    published, samples = roles[ARGUMENTS.role]()
    folder.leave()
    contract.end(published, samples)


main()
