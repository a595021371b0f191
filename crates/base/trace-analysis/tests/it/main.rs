//! Tests with trace files that processes write, and with files that the tests put together.
#![allow(clippy::unwrap_used, missing_docs)]

mod files;
mod live;
mod program;
