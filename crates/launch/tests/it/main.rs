//! Launch files as their users write them: plans, messages, and what hostile texts come to.
#![allow(clippy::unwrap_used)]

mod actions;
mod errors;
mod launcher;
mod plans;
mod properties;
mod runs;
mod workspace;
