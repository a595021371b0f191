//! One conformance suite for every Feros engine.
