//! Tests with datagrams that the tests make themselves: announcements of participants whose
//! libraries are not installed here, and a reader that asks for messages that have left the
//! history.
#![allow(clippy::unwrap_used)]

mod foreign_libraries;
mod gone_history;
mod participant;
