//! Bags as files, read and written by us and by others.
#![allow(clippy::unwrap_used, missing_docs)]

mod damage;
mod files;
mod filled;
mod hostile;
mod others;
mod stock_sqlite;
mod support;
