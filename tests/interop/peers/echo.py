"""Sends every message of --topic back on --back, as it is: matched {timeout} waits for both sides, echoed {} counts."""
import conversion
import peer

args = peer.arguments(__doc__, topic=None, back=None, type=None, qos="{}")


def setup(node):
    kind = conversion.interface(args.type, "msg")
    publisher = node.create_publisher(kind, args.back, peer.qos(args.qos))
    echoed = 0

    def echo(message):
        nonlocal echoed
        publisher.publish(message)
        echoed += 1

    subscription = node.create_subscription(kind, args.topic, echo, peer.qos(args.qos))

    def matched(timeout=30.0):
        peer.wait_until(lambda: publisher.get_subscription_count() > 0 and subscription.get_publisher_count() > 0, timeout)
        return True

    return {"matched": matched, "echoed": lambda: echoed}


peer.run(args, setup)
