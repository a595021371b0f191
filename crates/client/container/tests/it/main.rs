//! Containers as processes, driven through their services like by any client.
#![allow(clippy::unwrap_used)]

mod faults;
mod features;
mod lifecycle;
mod load;
mod local_requests;
mod restart;
mod stock;
mod support;
mod unload;
