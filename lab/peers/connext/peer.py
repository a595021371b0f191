#!/usr/bin/env python3
"""RTI Connext through its Python API (package rti.connext), by waitset as its manual shows it.

NOT RUN so far: without a licence no participant can be made, and none was at hand. What has been run with 7.7: the imports, the type, every
QoS below, and what it says without a licence. Who has one sets RTI_LICENSE_FILE and finds out about the rest.
"""

import os
import sys
import threading
from array import array
from dataclasses import field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))
import contract  # noqa: E402

ARGUMENTS = contract.parse(sys.argv[1:], [("profile", ["default", "large-data"], "default")])
# The library writes to standard output, which is reserved for the contract.
_own = os.dup(1)
os.dup2(2, 1)
sys.stdout = os.fdopen(_own, "w")

try:
    import rti.connextdds as dds
    import rti.types as idl
    from typing import Sequence
except ImportError as missing:
    contract.hello(ARGUMENTS, "connext", "not installed")
    contract.error("failed", f"{missing}; python3 -m venv .venv-connext && .venv-connext/bin/pip install rti.connext")


# The bound is the size of one message, so that no pool is created for larger messages.
@idl.struct(member_annotations={"data": [idl.bound(ARGUMENTS.size)]})
class Bytes:
    data: Sequence[idl.uint8] = field(default_factory=idl.array_factory(idl.uint8))


@idl.struct(member_annotations={"data": [idl.bound(ARGUMENTS.size)]})
class Text:
    data: str = ""


TYPE = Text if ARGUMENTS.type == "string" else Bytes


def qos(of_writer):
    provider = dds.QosProvider.default
    if ARGUMENTS.profile == "large-data":
        profile = dds.BuiltinProfiles.generic_keep_last_reliable_large_data
        found = provider.datawriter_qos_from_profile(profile) if of_writer else provider.datareader_qos_from_profile(profile)
    else:
        found = provider.datawriter_qos if of_writer else provider.datareader_qos
    is_reliable, is_latched = ARGUMENTS.reliability == "reliable", ARGUMENTS.durability == "transient_local"
    found.reliability.kind = dds.ReliabilityKind.RELIABLE if is_reliable else dds.ReliabilityKind.BEST_EFFORT
    found.durability.kind = dds.DurabilityKind.TRANSIENT_LOCAL if is_latched else dds.DurabilityKind.VOLATILE
    found.history.kind = dds.HistoryKind.KEEP_ALL if ARGUMENTS.history == "keep_all" else dds.HistoryKind.KEEP_LAST
    if ARGUMENTS.history == "keep_last":
        found.history.depth = ARGUMENTS.depth
    if ARGUMENTS.deadline_ms > 0:
        found.deadline.period = dds.Duration(ARGUMENTS.deadline_ms / 1000)
    if of_writer and ARGUMENTS.publish == "async":
        found.publish_mode.kind = dds.PublishModeKind.ASYNCHRONOUS
    if of_writer and ARGUMENTS.publish == "sync":
        found.publish_mode.kind = dds.PublishModeKind.SYNCHRONOUS
    return found


def check():
    """Checks the parts that do not need a licence: the type and the QoS."""
    TYPE()
    qos(True), qos(False)
    return dds.ProductVersion.current


def new_participant():
    try:
        return dds.DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
    except dds.Error as failure:
        licence = os.environ.get("RTI_LICENSE_FILE", "")
        if licence and Path(licence).is_file():
            contract.error("failed", f"{failure}; RTI_LICENSE_FILE={licence} may have expired")
        contract.error("no-licence", "RTI Connext wants a licence file: export RTI_LICENSE_FILE=/path/to/rti_license.dat")


class Sender(contract.Sender):
    def __init__(self, participant, topic):
        self.writer = dds.DataWriter(dds.Publisher(participant), topic, qos(True))
        super().__init__(ARGUMENTS, lambda: self.writer.publication_matched_status.current_count)

    def send_all(self):
        message = TYPE()
        rest = "z" * max(ARGUMENTS.size - contract.STAMP_DIGITS, 0)
        if ARGUMENTS.type == "bytes":
            message.data = array("B", contract.payload(ARGUMENTS))
        for number in contract.pace(ARGUMENTS):
            if ARGUMENTS.type == "bytes":
                at = contract.stamp(ARGUMENTS, message.data, number)
            else:
                at = contract.now_nanos()
                message.data = contract.text_stamp(at, number) + rest
            self.writer.write(message)
            self.published.note(number, at)
        if ARGUMENTS.reliability == "reliable":
            try:
                self.writer.wait_for_acknowledgments(dds.Duration(2))
            except dds.TimeoutError:
                pass


class Receiver:
    """A reader, and the wait set that reports when it has messages."""

    def __init__(self, participant, topic, samples, relay_to=None):
        self.reader = dds.DataReader(dds.Subscriber(participant), topic, qos(False))
        self.samples, self.relay_to = samples, relay_to
        self.waitset = dds.WaitSet()
        self.waitset += dds.ReadCondition(self.reader, dds.DataState.any)

    def until(self, is_over):
        while not is_over():
            try:
                self.waitset.wait(dds.Duration(0, 200_000_000))
            except dds.TimeoutError:
                continue
            for message in self.reader.take_data():
                now = contract.now_nanos()
                self.samples.note(message.data, now)
                if self.relay_to is not None:
                    at = contract.now_nanos()
                    self.relay_to.writer.write(message)
                    self.relay_to.published.note(self.relay_to.published.sent, at)


def new_topic(participant, name):
    return dds.Topic(participant, name, TYPE)


def talker(participant):
    Sender(participant, new_topic(participant, ARGUMENTS.topic)).talk()


def listener_or_relay(participant):
    samples = contract.Samples(ARGUMENTS, ARGUMENTS.index)
    sender = Sender(participant, new_topic(participant, ARGUMENTS.to)) if ARGUMENTS.role == "relay" else None
    receiver = Receiver(participant, new_topic(participant, ARGUMENTS.topic), samples, sender)
    if sender:
        sender.wait_for(1, seconds=5)
    contract.ready()
    receiver.until(lambda: samples.is_done() or contract.wait_stopped(ARGUMENTS))
    contract.end(sender.published if sender else None, [samples])


def pair(participant):
    topic, over = new_topic(participant, ARGUMENTS.topic), threading.Event()
    samples = [contract.Samples(ARGUMENTS, index) for index in range(ARGUMENTS.subscriptions)]
    receivers = [Receiver(participant, topic, one) for one in samples]
    threads = [threading.Thread(target=receiver.until, args=(over.is_set,)) for receiver in receivers]
    sender = Sender(participant, topic)
    for thread in threads:
        thread.start()
    sender.wait_for(len(samples))
    contract.ready()
    sender.send_all()
    contract.wait_received(ARGUMENTS, samples, sender.published.sent)
    over.set()
    for thread in threads:
        thread.join()
    contract.end(sender.published, samples)


def main():
    contract.hello(ARGUMENTS, "connext", f"RTI Connext {check()}")
    roles = {"talker": talker, "listener": listener_or_relay, "relay": listener_or_relay, "pair": pair}
    if ARGUMENTS.role not in roles or ARGUMENTS.placement == "intra":
        contract.error("unsupported", f"there is no role {ARGUMENTS.role} with placement {ARGUMENTS.placement}")
    participant = new_participant()
    try:
        roles[ARGUMENTS.role](participant)
    except dds.Error as failure:
        contract.error("failed", str(failure))


main()
