//! The bridge between two domains of Cyclone DDS: what it bridges, and what it does not.
#![allow(clippy::unwrap_used, missing_docs)]

mod ends;
mod hosts;
mod killed;
mod precedence;
mod services;
mod topics;
