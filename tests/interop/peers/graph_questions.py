"""The requests to a stock node about the current graph: nodes {}, topics {}, services {}, publishers {topic} and
subscriptions {topic} as `ros2 topic info -v`, node {name, namespace} as `ros2 node info`."""
import peer


def endpoint(info):
    return {
        "node": info.node_name,
        "namespace": info.node_namespace,
        "type": info.topic_type,
        "hash": str(info.topic_type_hash),
        "kind": info.endpoint_type.name.lower(),
        "gid": bytes(info.endpoint_gid).hex(),
        "qos": peer.qos_to_json(info.qos_profile),
    }


def operations(node):
    def about_node(name, namespace="/"):
        return {
            "publishers": dict(node.get_publisher_names_and_types_by_node(name, namespace)),
            "subscriptions": dict(node.get_subscriber_names_and_types_by_node(name, namespace)),
            "services": dict(node.get_service_names_and_types_by_node(name, namespace)),
            "clients": dict(node.get_client_names_and_types_by_node(name, namespace)),
        }

    def nodes():
        return [{"name": name, "namespace": namespace, "enclave": enclave}
                for name, namespace, enclave in node.get_node_names_and_namespaces_with_enclaves()]

    return {
        "nodes": nodes,
        "topics": lambda: dict(node.get_topic_names_and_types()),
        "services": lambda: dict(node.get_service_names_and_types()),
        "publishers": lambda topic: [endpoint(info) for info in node.get_publishers_info_by_topic(topic)],
        "subscriptions": lambda topic: [endpoint(info) for info in node.get_subscriptions_info_by_topic(topic)],
        "node": about_node,
    }
