//! The boundary between Feros and its engines: traits, QoS, names, graph, gids.
