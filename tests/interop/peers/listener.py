"""Receives: take {count, timeout} gives the oldest messages, received {} how many wait, matched {count, timeout},
incompatible {timeout} waits until an offered QoS did not fit and names the policy."""
import conversion
import peer
from rclpy.event_handler import SubscriptionEventCallbacks

args = peer.arguments(__doc__, topic=None, type=None, qos="{}")


def setup(node):
    inbox, refused = peer.Inbox(), peer.Inbox()
    events = SubscriptionEventCallbacks(incompatible_qos=lambda event: refused.put(
            event.last_policy_kind.name.lower().removeprefix("rmw_qos_policy_")))
    subscription = node.create_subscription(
        conversion.interface(args.type, "msg"), args.topic,
        lambda message: inbox.put(conversion.to_json(message)), peer.qos(args.qos), event_callbacks=events)

    def matched(count=1, timeout=30.0):
        peer.wait_until(lambda: subscription.get_publisher_count() == count, timeout)
        return subscription.get_publisher_count()

    return {"take": inbox.take, "received": inbox.count, "matched": matched,
            "incompatible": lambda timeout=30.0: refused.take(1, timeout)[0]}


peer.run(args, setup)
