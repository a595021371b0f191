//! Tests launch files as users write them: plans, messages, and the results of hostile text.
#![allow(clippy::unwrap_used)]

mod actions;
mod all_mistakes;
mod errors;
mod launcher;
mod plans;
mod properties;
mod python;
mod runs;
mod workspace;
