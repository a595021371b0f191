//! Tests with processes that are killed, belong to other users, have no shared memory, or are
//! hostile.
//!
//! `FEROS_CRASH_ROUNDS` sets the length of the tests, and `FEROS_CRASH_SEED` the seed of their
//! random choices. If the tests run as root, the processes of a test see a separate `/dev/shm`;
//! otherwise some tests are skipped, which is reported on standard error.
#![allow(clippy::unwrap_used)]

mod calls;
mod churn;
mod datagrams;
mod dev_shm;
mod filled_at_start;
mod hostile;
mod keep_all;
mod killed_actions;
mod killed_listeners;
mod killed_talkers;
mod limits;
mod lossless;
mod mixed;
mod paused;
mod restart;
mod scribbled;
mod slow_listener;
mod stops;
mod support;
mod users;
mod views;
