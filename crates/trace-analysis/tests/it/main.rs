//! Files of traces, by processes that write them and by hand.
#![allow(clippy::unwrap_used, missing_docs)]

mod files;
mod live;
mod program;
