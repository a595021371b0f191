//! Tests with datagrams that the tests make themselves: announcements of participants whose
//! libraries are not installed here, endpoints of ROS 2 Lyrical, readers of discovery that greet
//! and that stay silent, a reader that asks for messages that have left the history, and readers
//! that answer late.
#![allow(clippy::unwrap_used)]

mod first_contact;
mod foreign_libraries;
mod gone_history;
mod late_readers;
mod lyrical;
mod participant;
