//! ROS 2 built for the shortest path: context, node, publisher, subscription, service, client, timer, clock, graph.
