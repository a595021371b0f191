//! Generates Rust source from interface definitions.
