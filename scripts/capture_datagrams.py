#!/usr/bin/env python3
"""Captures the RTPS datagrams that tests/crash/tests/it/datagrams.rs mutates.

Needs root (a raw socket on `lo`). Two processes of the crash tests, `target` and `other`, talk over
the network. The datagrams that `other` sends to `target` go to tests/crash/seeds, each in a file of
its own; at most 8 of each kind (port, submessages, and size in steps of 256 bytes) are kept. The
name of a file is `NUMBER-PORT-SUBMESSAGES.rtps`: PORT is `meta` or `user`, and SUBMESSAGES has the
ids of the first twelve submessages in hexadecimal. The file `target` in the same folder has the
GUID prefix of the process `target`.
"""
import json
import os
import pathlib
import socket
import struct
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = ROOT / "tests/crash/seeds"
PEER = ROOT / "target/debug/crash-peer"
DOMAIN = 219
PER_KIND = 8
# Small fragments keep the seeds small; all kinds of submessages occur.
CONFIGURATION = (
    "<Domain><General><FragmentSize>1500B</FragmentSize><MaxMessageSize>3000B</MaxMessageSize>"
    "</General></Domain>"
)


def start(name):
    environment = dict(os.environ, ROS_DOMAIN_ID=str(DOMAIN), CYCLONEDDS_URI=CONFIGURATION)
    process = subprocess.Popen(
        [PEER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert json.loads(process.stdout.readline()) == {"ready": True}
    return process


def ask(process, op, **arguments):
    process.stdin.write(json.dumps(dict(arguments, op=op)) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["ok"]


def submessages(datagram):
    """Returns the ids of a datagram's submessages, in hexadecimal."""
    at, found = 20, []
    while at + 4 <= len(datagram):
        kind, flags = datagram[at], datagram[at + 1]
        length = struct.unpack_from("<H" if flags & 1 else ">H", datagram, at + 2)[0]
        found.append(f"{kind:02x}")
        if length == 0 and kind not in (0x01, 0x09):  # the submessage extends to the end
            break
        at += 4 + length
    return "".join(found)


def main():
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    raw.bind(("lo", 0))
    raw.settimeout(0.2)
    seen, is_over = [], threading.Event()

    def sniff():
        while not is_over.is_set():
            try:
                packet, address = raw.recvfrom(65536)
            except TimeoutError:
                continue
            header = (packet[0] & 15) * 4
            if packet[9] != 17 or address[2] == socket.PACKET_OUTGOING:
                continue
            _, to = struct.unpack_from(">HH", packet, header)
            datagram = packet[header + 8 :]
            if datagram.startswith(b"RTPS"):
                seen.append((to, datagram))

    thread = threading.Thread(target=sniff)
    thread.start()
    target, other = start("target"), start("other")  # participants 0 and 1 of the domain
    for process, mine, theirs in [(target, "a", "b"), (other, "b", "a")]:
        ask(process, "publisher", name="pub", topic=mine, id=1, keep_all=True)
        ask(process, "listen", name="sub", topic=theirs, by_network=True, keep_all=True)
    while not (found := ask(other, "transports", name="pub")):
        time.sleep(0.1)
    for size in (10, 300, 5000, 20000):
        ask(target, "publish", name="pub", count=20, size=size)
        ask(other, "publish", name="pub", count=20, size=size)
        time.sleep(0.3)
    ask(other, "leave", name="pub")
    ask(other, "leave", name="sub")
    time.sleep(0.5)
    for process in (other, target):
        process.stdin.close()
        process.wait()
    is_over.set()
    thread.join()
    prefix = bytes(int(byte, 16) for byte in found[0]["gid"].split(".")[:12])
    first = 7400 + 250 * DOMAIN + 10
    ports = {first: "meta", first + 1: "user"}
    for old in SEEDS.glob("*.rtps"):
        old.unlink()
    counts, number = {}, 0
    for to, datagram in seen:
        if to not in ports or datagram[8:20] == prefix:
            continue
        kind = (ports[to], submessages(datagram), len(datagram) // 256)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] > PER_KIND:
            continue
        (SEEDS / f"{number:03}-{kind[0]}-{kind[1][:24]}.rtps").write_bytes(datagram)
        number += 1
    (SEEDS / "target").write_bytes(prefix)
    print(f"{len(seen)} datagrams seen, {number} kept")


main()
