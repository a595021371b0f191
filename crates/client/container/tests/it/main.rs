//! Containers as processes, which the tests drive through their services, like any client.
#![allow(clippy::unwrap_used)]

mod faults;
mod features;
mod lifecycle;
mod load;
mod local_requests;
mod realtime;
mod restart;
mod shipped;
mod stock;
mod support;
mod unload;
