"""Spins until a signal arrives, and prints how the spinning ended."""

import signal

import feros
from feros.msgs.std_msgs.msg import String


def main():
    # A program that a shell has started in the background ignores the signal by default.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    context = feros.Context([])
    node = context.create_node("interrupted")
    node.create_subscription(String, "chatter", print)
    try:
        print("ready", flush=True)  # from here on the signal may arrive
        feros.spin(node)
        print("returned", flush=True)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", flush=True)
    finally:
        context.shutdown()


main()
