//! The laboratory: measures Feros beside its peers.
