"""Publishes what it is told: publish {values}, matched {count, timeout}, acked {timeout}."""
import conversion
import peer
from rclpy.duration import Duration

args = peer.arguments(__doc__, topic=None, type=None, qos="{}")


def setup(node):
    kind = conversion.interface(args.type, "msg")
    publisher = node.create_publisher(kind, args.topic, peer.qos(args.qos))

    def publish(values):
        for value in values:
            publisher.publish(conversion.fill(kind(), value))
        return len(values)

    def matched(count=1, timeout=30.0):
        peer.wait_until(lambda: publisher.get_subscription_count() == count, timeout)
        return publisher.get_subscription_count()

    def acked(timeout=30.0):
        return publisher.wait_for_all_acked(Duration(seconds=timeout))

    return {"publish": publish, "matched": matched, "acked": acked}


peer.run(args, setup)
