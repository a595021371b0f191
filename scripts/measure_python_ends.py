#!/usr/bin/env python3
"""Measures how long Python processes with many nodes of one topic take to end together.

    measure_python_ends.py [PROCESSES [NODES [ROUNDS]]]

Run it with a Python that has the wheel (`scripts/build_wheel.sh`, then `pip install` it into a virtual
environment). Each node has a publisher and a subscription of one topic; each process spins its nodes. Once
each publisher has found all subscriptions and the processes are idle, all get SIGINT at the same moment. It
prints the seconds until each process had ended, and the processor time that the ends took, per process; on
an idle machine, the last process ends when the processors have spent that time on all of them. The program
in Rust is crates/client/feros/examples/end_together.rs. All stays on loopback.
"""

import os
import resource
import signal
import subprocess
import sys
import time

IDLE_SECONDS = 0.4  # of the processors, in two seconds, by all processes together
TICKS = os.sysconf("SC_CLK_TCK")


def part(nodes, wanted):
    import feros
    from feros.msgs.std_msgs.msg import UInt32

    context = feros.Context([])
    executor = feros.Executor()
    publishers = []
    for number in range(nodes):
        node = context.create_node(f"node_{os.getpid()}_{number}")
        publishers.append(node.create_publisher(UInt32, "together", 10))
        node.create_subscription(UInt32, "together", lambda message: None, 10)
        executor.add_node(node)
    while any(publisher.subscription_count < wanted for publisher in publishers):
        executor.spin_once(0.05)
    print("found all", flush=True)
    with context:
        try:
            executor.spin()
        except KeyboardInterrupt:
            pass


def processor_seconds(children):
    def of(child):
        with open(f"/proc/{child.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    return sum(map(of, children))


def end_together(processes, nodes):
    environment = dict(os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
    line = [sys.executable, __file__, "part", str(nodes), str(processes * nodes)]
    began = time.monotonic()
    children = [
        subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(processes)
    ]
    for child in children:
        assert child.stdout.readline() == "found all\n"
    found = time.monotonic() - began
    before = processor_seconds(children)
    while True:
        time.sleep(2)
        now = processor_seconds(children)
        if now - before <= IDLE_SECONDS:
            break
        before = now
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = spent.ru_utime + spent.ru_stime
    began, ended = time.monotonic(), {}
    for child in children:
        child.send_signal(signal.SIGINT)
    while len(ended) < processes:
        for child in children:
            if child.pid not in ended and child.poll() is not None:
                ended[child.pid] = time.monotonic() - began
        time.sleep(0.005)
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_ends = total.ru_utime + total.ru_stime - spent - now
    return found, of_ends / processes, sorted(ended.values()), [child.returncode for child in children]


def main():
    if sys.argv[1:2] == ["part"]:
        return part(int(sys.argv[2]), int(sys.argv[3]))
    processes, nodes, rounds = (list(map(int, sys.argv[1:])) + [10, 30, 5][len(sys.argv) - 1:])
    for number in range(1, rounds + 1):
        found, spent, ended, codes = end_together(processes, nodes)
        assert set(codes) == {0}, codes
        print(
            f"round {number}: all found after {found:.2f} s; {spent:.3f} s of the processors for the end"
            f" of each; seconds until each had ended: {' '.join(f'{each:.2f}' for each in ended)}",
            flush=True,
        )


main()
