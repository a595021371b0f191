"""All peers of the laboratory in Python share this code (peers in C share contract.h). README.md is
the contract.

    arguments = contract.parse(sys.argv[1:])
    contract.hello(arguments, "rclpy", version)
    samples, published = contract.Samples(arguments, 0), contract.Published(arguments)
    contract.ready()
    for number in contract.pace(arguments):
        at = contract.stamp(arguments, payload, number)  # a bytearray; text_stamp makes a str
        publish(payload)
        published.note(number, at)
    contract.end(published, [samples])
"""

import argparse
import ctypes
import json
import os
import select
import struct
import sys
import time
from array import array
from types import SimpleNamespace

MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT = 1, 2, 4
VERSION, WRONG_ARGUMENTS, NOT_INSTALLED = 1, 64, 69
ROLES = [
    "talker", "listener", "relay", "pair", "chain", "nodes", "executor", "server", "client", "calls", "member", "newcomer"
]
STAMP_BYTES, STAMP_DIGITS = 16, 32
WRITE_NANOS = 1_000_000_000
QUIET_NANOS = 3_000_000_000

now_nanos = time.monotonic_ns  # CLOCK_MONOTONIC


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        sys.stderr.write(f"error: {message}\n")
        sys.exit(WRONG_ARGUMENTS)


def _number(least, most, kind=int):
    def convert(text):
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least} to {most}")
        return value

    return convert


def lock_memory():
    """Locks the memory that the process has and will have, if the laboratory asks for it. After a refusal, which is reported, the run
    goes on: the laboratory checks from outside which memory is locked."""
    if os.environ.get("FEROS_LAB_LOCK_MEMORY") != "1":
        return
    library = ctypes.CDLL(None, use_errno=True)
    if library.mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0:
        reason = os.strerror(ctypes.get_errno())
        sys.stderr.write(f"error: mlockall was refused: {reason}; raise the limit memlock (ulimit -l), or run it as root\n")


def parse(words, extras=()):
    """Parses the arguments; exits with code 64 if one is unknown or wrong. `extras`: (name without dashes, allowed or None, default)."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("--role", choices=ROLES, required=True)
    add("--placement", choices=["remote", "local", "composed", "intra"], default="local")
    add("--topic", default="feros_lab")
    add("--to", default="feros_lab_to")
    add("--type", choices=["bytes", "string"], default="bytes")
    add("--size", type=_number(0, 1 << 30), default=256)
    add("--rate", type=_number(0, 1e7, float), default=100.0)
    add("--count", type=_number(0, 10**12), default=100)
    add("--seconds", type=_number(0, 1e6, float), default=0.0)
    add("--warm-up", type=_number(0, 10**9), default=10)
    add("--reliability", choices=["reliable", "best_effort"], default="reliable")
    add("--durability", choices=["volatile", "transient_local"], default="volatile")
    add("--history", choices=["keep_last", "keep_all"], default="keep_last")
    add("--depth", type=_number(1, 10**9), default=10)
    add("--deadline-ms", type=_number(0, 1e9, float), default=0.0)
    add("--publish", choices=["default", "sync", "async"], default="default")
    add("--timeout", type=_number(0, 1e6, float), default=60.0)
    add("--samples", choices=["all", "none"], default="all")
    add("--fill", choices=["none", "each"], default="none")
    add("--work-micros", type=_number(0, 10**9), default=0)
    add("--executor", choices=["default", "single", "multi", "isolated"], default="default")
    add("--matched", type=_number(0, 10**6), default=1)
    add("--index", type=_number(0, 10**6), default=0)
    add("--subscriptions", type=_number(1, 10**6), default=1)
    add("--nodes", type=_number(1, 10**6), default=3)
    add("--idle", type=_number(0, 10**6), default=0)
    add("--topology", choices=["ring", "one_topic"], default="ring")
    for name, allowed, default in extras:
        add(f"--{name}", choices=allowed, default=default)
    found = parser.parse_args(words)
    found.end_nanos = now_nanos() + int(found.timeout * 1e9)
    found.messages = None if found.seconds > 0 else found.warm_up + found.count
    found.keeps_samples = found.samples == "all" and found.role != "relay"  # the last listener keeps them
    least = STAMP_DIGITS if found.type == "string" else STAMP_BYTES
    if found.role not in ("nodes", "executor", "member", "newcomer") and found.size < least:
        parser.error(f"--size {found.size}: the payload has no room for the stamp")
    if found.role == "chain" and found.nodes < 2:
        parser.error("--nodes: a chain has at least 2 nodes")
    lock_memory()
    return found


# --- lines -----------------------------------------------------------------------------------------------------------


def write(line):
    # The whole line is written with one call, so that lines of several threads do not mix.
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def hello(arguments, system, version):
    write({"hello": {"contract": VERSION, "system": system, "version": version, "role": arguments.role}})


def ready():
    write({"ready": {}})


def settled(at_nanos):
    """Reports that the program has had since this time what it waited for: a member all of its matches, a newcomer its first message."""
    write({"settled": {"at_nanos": at_nanos}})


def values(**numbers):
    write({"values": numbers})


def error(kind, text):
    """Reports why the program cannot go on, and ends it. `kind`: unsupported, no-licence, not-matched, failed."""
    write({"error": {"kind": kind, "text": text}})
    os._exit(NOT_INSTALLED if kind == "no-licence" else 1)  # an engine that has failed may hang in its destructors


# --- time ------------------------------------------------------------------------------------------------------------


def wait_stopped(arguments, seconds=0.0):
    """Waits up to this long for the end of standard input or for the time limit; returns whether one of them came."""
    until = min(now_nanos() + int(seconds * 1e9), arguments.end_nanos)
    while True:
        left = max(until - now_nanos(), 0) / 1e9
        if select.select([0], [], [], left)[0] and not os.read(0, 256):
            return True
        if now_nanos() >= until:
            return now_nanos() >= arguments.end_nanos


def work(arguments):
    """Computes for the processor time --work-micros."""
    if arguments.work_micros:
        end = time.thread_time_ns() + arguments.work_micros * 1000
        while time.thread_time_ns() < end:
            pass


def pace(arguments):
    """Yields the number of each message when it is due. A late talker publishes at once and never catches up in a burst."""
    period = int(1e9 / arguments.rate) if arguments.rate > 0 else 0
    looked = now_nanos()
    due, ends, number = looked + 10_000_000, None, 0
    while True:
        if arguments.seconds > 0 and number == arguments.warm_up:
            ends = due + int(arguments.seconds * 1e9)
        if (number >= arguments.messages) if arguments.messages is not None else (ends is not None and due >= ends):
            return
        now = now_nanos()
        if now - looked > 100_000_000 or now >= arguments.end_nanos:
            looked = now
            if wait_stopped(arguments):
                return
        if now < due:
            time.sleep(max(0, due - now_nanos()) / 1e9)
        else:
            due = now
        due += period
        yield number
        number += 1


# --- stamps ----------------------------------------------------------------------------------------------------------


def payload(arguments):
    """A payload of type `bytes`; only the stamp changes later."""
    return bytearray(b"\x5a" * arguments.size)


def filling(arguments, number):
    """The value of each byte of a message with `--fill each`, except for its stamp."""
    return ord("a") + number % 26 if arguments.type == "string" else number & 255


def stamp(arguments, payload, number):
    """Fills the payload if asked to, writes the stamp with the time last, and returns the time. The publish call comes next."""
    if arguments.fill == "each":
        whole = (ctypes.c_char * arguments.size).from_buffer(payload)
        ctypes.memset(whole, filling(arguments, number), arguments.size)
    struct.pack_into("<Q", payload, 8, number)
    now = now_nanos()
    struct.pack_into("<Q", payload, 0, now)
    return now


def text_payload(arguments, number):
    """The rest of a `string` payload after its stamp, made anew if the arguments ask for it."""
    return ("z" if arguments.fill == "none" else chr(filling(arguments, number))) * (arguments.size - STAMP_DIGITS)


def text_stamp(now, number):
    """The first 32 characters of a `string` payload."""
    return f"{now:016x}{number:016x}"


def read_stamp(arguments, payload):
    """Reads the time and the number from bytes or from a string."""
    if len(payload) != arguments.size:
        error("failed", f"a received payload has {len(payload)} bytes, {arguments.size} were sent")
    is_text = isinstance(payload, str)
    at, number = (int(payload[:16], 16), int(payload[16:32], 16)) if is_text else struct.unpack_from("<QQ", payload)
    if arguments.fill == "each" and len(payload) > (STAMP_DIGITS if is_text else STAMP_BYTES):
        last = ord(payload[-1]) if is_text else payload[-1]
        if last != filling(arguments, number):
            error("failed", "the last byte of a received payload is not the one that its talker must write")
    return at, number


# --- what was measured -----------------------------------------------------------------------------------------------


class _Rows:
    """Three columns of numbers, written at most once a second while messages are on their way."""

    def __init__(self, arguments):
        self.keeps, self.columns, self.written = arguments.keeps_samples, [array("Q") for _ in range(3)], now_nanos()

    def add(self, now, *row):
        if self.keeps:
            if not self.columns[0]:
                self.written = now  # a batch lasts from its first row
            for column, value in zip(self.columns, row):
                column.append(value)
            if now - self.written > WRITE_NANOS:
                self.write()

    def write(self):
        if self.columns[0]:
            write(self.line(*(column.tolist() for column in self.columns)))
            self.columns = [array("Q") for _ in range(3)]
        self.written = now_nanos()


class Samples:
    """The messages that one subscription received."""

    def __init__(self, arguments, subscription):
        self.arguments, self.subscription, self.rows = arguments, subscription, _Rows(arguments)
        self.received = self.bytes = self.first_nanos = self.last_nanos = self.next = 0
        self.rows.line = lambda numbers, nanos, at: {
            "samples": {"subscription": subscription, "numbers": numbers, "nanos": nanos, "at_nanos": at}
        }

    def note(self, payload, now):
        """Notes a payload; `now` was read first in the callback. Returns whether it was the last message."""
        at, number = read_stamp(self.arguments, payload)
        return self.note_sample(number, max(now - at, 0), now)

    def note_sample(self, number, nanos, now):
        self.first_nanos = self.first_nanos or now
        self.last_nanos = now
        self.received += 1
        self.bytes += self.arguments.size
        self.rows.add(now, number, nanos, now)
        work(self.arguments)
        self.next = max(self.next, number + 1)
        return self.is_done()

    def is_done(self):
        return self.arguments.messages is not None and self.next >= self.arguments.messages > 0


class Published:
    """The messages that were published."""

    def __init__(self, arguments):
        self.rows = _Rows(arguments)
        self.sent = self.first_nanos = self.last_nanos = 0
        self.rows.line = lambda numbers, calls, at: {
            "published": {"numbers": numbers, "call_nanos": calls, "at_nanos": at}
        }

    def note(self, number, at):
        """Notes a call of publish that has just returned, by the time of its stamp."""
        now = now_nanos()
        self.first_nanos = self.first_nanos or at
        self.last_nanos = at
        self.sent += 1
        self.rows.add(now, number, now - at, at)


class Sender:
    """A publisher with its measurements. `matches` returns the number of its subscriptions. A peer's class has `send_all`."""

    def __init__(self, arguments, matches):
        self.arguments, self.matches, self.published = arguments, matches, Published(arguments)

    def wait_for(self, count, seconds=None):
        """Waits until this many subscriptions match; after some seconds a relay continues without them."""
        until = None if seconds is None else now_nanos() + seconds * 1_000_000_000
        while (matched := self.matches()) < count:
            if until is not None and now_nanos() > until:
                return
            if wait_stopped(self.arguments, 0.001):
                error("not-matched", f"{matched} of {count} subscriptions were found in time")

    def talk(self):
        """The role `talker`."""
        self.wait_for(self.arguments.matched)
        ready()
        self.send_all()
        end(self.published)


def wait_received(arguments, samples, sent):
    """For pair and chain: waits until every subscription has all sent messages, or nothing more has come for three seconds."""
    before, since = None, now_nanos()
    while not all(one.next >= sent for one in samples) and not wait_stopped(arguments, 0.002):
        total = sum(one.next for one in samples)
        if total != before:
            before, since = total, now_nanos()
        elif now_nanos() - since > QUIET_NANOS:
            return


def end(published=None, samples=()):
    """Writes the remaining samples and the last line."""
    none = SimpleNamespace(sent=0, first_nanos=0, last_nanos=0)
    for side in ([published] if published else []) + list(samples):
        side.rows.write()
    sides = [side for side in (samples or [published or none]) if side.last_nanos]
    write({"end": {
        "sent": (published or none).sent,
        "received": [one.received for one in samples],
        "bytes": [one.bytes for one in samples],
        "first_nanos": min((side.first_nanos for side in sides), default=0),
        "last_nanos": max((side.last_nanos for side in sides), default=0),
    }})
