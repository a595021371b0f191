//! The protocols of an entry under every interleaving and memory ordering that loom explores.
