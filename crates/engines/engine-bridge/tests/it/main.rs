//! Tests of the bridge between two domains of Cyclone DDS: which names it bridges, and which names
//! it does not bridge.
#![allow(clippy::unwrap_used, missing_docs)]

mod ends;
mod hosts;
mod killed;
mod precedence;
mod prefixes;
mod services;
mod topics;
