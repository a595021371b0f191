#!/usr/bin/env python3
"""A system under test whose latencies, losses and faults are known, for the tests of the laboratory itself.

Messages really go from process to process (as datagrams to sockets in the abstract namespace, named after the run), but
the reported numbers are those of the variant: the latency is `--latency-nanos`, plus `--spread-nanos` times the number
of the message modulo 10.
"""

import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402

FAULTS = ["none", "lossy", "initial-loss", "duplicates", "hang", "crash", "garbage", "unfinished", "no-licence", "unsupported", "unsettled"]
TRANSPORTS = ["untold", "shared_memory", "network"]
# Messages whose number ends in this digit are lost or come twice.
DIGIT = 9
INITIAL_LOSS = 5
CALL_NANOS = 20_000
# Members of a robot look for each other, and for a newcomer, at this interval.
LOOK_SECONDS = 0.01
# The numbers with which members look for each other, and a newcomer for the first member.
SEARCH, GREETING = (1 << 64) - 1, (1 << 64) - 2
RUN = os.environ.get("FEROS_LAB_MOCK_RUN", str(os.getppid()))


def address(topic, index):
    return f"\0feros-lab-mock-{RUN}-{topic}-{index}"


def bound(arguments):
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    # A relay's index distinguishes it from other relays, but on its topic it is the only receiver.
    receiver.bind(address(arguments.topic, 0 if arguments.role == "relay" else arguments.index))
    return receiver


def send(sender, to, number, at):
    try:
        sender.sendto(struct.pack("<QQ", number, at), to)
        return True
    except (ConnectionRefusedError, FileNotFoundError):
        return False  # the receiver has ended


def misbehave(arguments, number):
    """Halfway through the run, listeners and pairs show the fault of the variant."""
    if number != arguments.warm_up + arguments.count // 2:
        return
    if arguments.fault == "hang":
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        while True:
            time.sleep(3600)
    if arguments.fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if arguments.fault == "garbage":
        sys.stdout.write('Segmentation fault? no: \x1b[31mcolours\x1b[0m\n{"samples":{"subscr\n')
        sys.stdout.flush()


def receive(arguments, samples, number, at):
    """Notes the copies of message `number` that reach the subscription."""
    misbehave(arguments, number)
    is_chosen = number % 10 == DIGIT
    if (arguments.fault == "lossy" and is_chosen) or (arguments.fault == "initial-loss" and number < INITIAL_LOSS):
        # The run ends with its last message, lost or not.
        samples.next = max(samples.next, number + 1)
        return
    nanos = arguments.latency_nanos + arguments.spread_nanos * (number % 10)
    for _ in range(2 if arguments.fault == "duplicates" and is_chosen else 1):
        samples.note_sample(number, nanos, at + nanos)


def talker(arguments):
    sender, published = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), contract.Published(arguments)
    to = [address(arguments.topic, index) for index in range(arguments.matched)]
    while not all(send(sender, one, (1 << 64) - 1, 0) for one in to):
        if contract.wait_stopped(arguments, 0.005):
            contract.error("not-matched", f"{arguments.matched} subscriptions were not found in time")
    contract.ready()
    for number in contract.pace(arguments):
        at = contract.now_nanos()
        for one in to:
            send(sender, one, number, at)
        note_published(published, number, at)
    contract.end(published)


def note_published(published, number, at):
    published.first_nanos = published.first_nanos or at
    published.last_nanos = at
    published.sent += 1
    published.rows.add(contract.now_nanos(), number, CALL_NANOS, at)


def listener(arguments):
    receiver, samples = bound(arguments), contract.Samples(arguments, arguments.index)
    receiver.settimeout(0.1)
    contract.ready()
    while not samples.is_done() and not contract.wait_stopped(arguments):
        try:
            number, at = struct.unpack("<QQ", receiver.recv(64))
        except TimeoutError:
            continue
        if number < 1 << 63:
            receive(arguments, samples, number, at)
    if arguments.transport != "untold":
        contract.values(**{f"received_{arguments.transport}": samples.received - 1, "received_other": 1})
    if arguments.fault != "unfinished":
        contract.end(None, [samples])


def relay(arguments):
    receiver, samples, published = bound(arguments), contract.Samples(arguments, 0), contract.Published(arguments)
    receiver.settimeout(0.1)
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)  # waits while the next process has no room
    until = contract.now_nanos() + 5_000_000_000
    while not send(sender, address(arguments.to, 0), (1 << 64) - 1, 0) and contract.now_nanos() < until:
        if contract.wait_stopped(arguments, 0.005):
            break
    contract.ready()
    while not samples.is_done() and not contract.wait_stopped(arguments):
        try:
            message = receiver.recv(64)
        except TimeoutError:
            continue
        number, at = struct.unpack("<QQ", message)
        if number < 1 << 63:
            samples.note_sample(number, 0, contract.now_nanos())
            note_published(published, number, contract.now_nanos())
        send(sender, address(arguments.to, 0), number, at)
    contract.end(published, [samples])


def pair(arguments):
    count = arguments.subscriptions if arguments.role == "pair" else 1
    published, samples = contract.Published(arguments), [contract.Samples(arguments, index) for index in range(count)]
    contract.ready()
    for number in contract.pace(arguments):
        at = contract.now_nanos()
        note_published(published, number, at)
        for one in samples:
            receive(arguments, one, number, at)
    if arguments.fault != "unfinished":
        contract.end(published, samples)


def nodes(arguments):
    contract.ready()
    while not contract.wait_stopped(arguments, 1.0):
        pass
    contract.end()


def executor(arguments):
    """The rate halves with every ten idle entities, so that it is known, but not constant."""
    contract.ready()
    contract.values(events_per_second=1e6 / (1 + arguments.idle / 10))
    contract.end()


def exists(to):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        try:
            return send(sender, to, SEARCH, 0)
        except BlockingIOError:
            return True  # it has not read the earlier ones yet


def greet_newcomers(arguments, receiver):
    """Reads what has come, and answers a newcomer."""
    while True:
        try:
            number, _ = struct.unpack("<QQ", receiver.recv(64))
        except BlockingIOError:
            return
        if number == GREETING:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                send(sender, address(arguments.topic, "newcomer"), GREETING, 0)


def member(arguments):
    """With the fault `unsettled`, the first member never finds the others."""
    receiver, count, index = bound(arguments), arguments.nodes, arguments.index
    receiver.setblocking(False)
    is_ring = arguments.topology == "ring"
    missing = {(index - 1) % count, (index + 1) % count} if is_ring else set(range(count))
    is_settled = arguments.fault == "unsettled" and index == 0
    contract.ready()
    try:
        while not contract.wait_stopped(arguments, LOOK_SECONDS):
            missing = {one for one in missing if not exists(address(arguments.topic, one))}
            if not missing and not is_settled:
                contract.settled(contract.now_nanos())
                is_settled = True
            greet_newcomers(arguments, receiver)
    except KeyboardInterrupt:
        pass  # the laboratory ends members by SIGINT
    contract.end()


def newcomer(arguments):
    receiver, sender = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
    receiver.bind(address(arguments.topic, "newcomer"))
    contract.ready()
    if not send(sender, address(arguments.topic, 0), GREETING, 0):
        contract.error("not-matched", "there is no member 0")
    receiver.settimeout(max(0.0, (arguments.end_nanos - contract.now_nanos()) / 1e9))
    try:
        receiver.recv(64)
    except TimeoutError:
        contract.error("not-matched", "no message came in time")
    contract.settled(contract.now_nanos())
    contract.end()


def main():
    arguments = contract.parse(
        sys.argv[1:],
        [
            ("fault", FAULTS, "none"),
            ("latency-nanos", None, "1000000"),
            ("spread-nanos", None, "0"),
            ("transport", TRANSPORTS, "untold"),
        ],
    )
    arguments.latency_nanos, arguments.spread_nanos = int(arguments.latency_nanos), int(arguments.spread_nanos)
    contract.hello(arguments, "mock", "mock 1.0")
    if arguments.role in ("talker", "listener"):
        contract.values(**{f"{arguments.role}_processors": sum(1 << one for one in os.sched_getaffinity(0))})
    if arguments.fault in ("no-licence", "unsupported"):
        contract.error(arguments.fault, "the mock reports this failure, as requested")
    roles = {
        "talker": talker, "listener": listener, "relay": relay, "pair": pair, "chain": pair, "nodes": nodes,
        "executor": executor, "server": nodes, "client": pair, "calls": pair, "member": member, "newcomer": newcomer,
    }
    if arguments.role not in roles:
        contract.error("unsupported", f"the mock has no role {arguments.role}")
    roles[arguments.role](arguments)


if __name__ == "__main__":
    main()
