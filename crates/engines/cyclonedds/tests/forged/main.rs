//! Tests with datagrams that the tests make themselves: announcements of participants whose
//! libraries are not installed here, and a reader that asks for what is gone.
#![allow(clippy::unwrap_used)]

mod foreign_libraries;
mod gone_history;
mod participant;
