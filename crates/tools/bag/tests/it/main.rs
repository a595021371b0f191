//! Bags as files, written and read by Feros and by other libraries.
#![allow(clippy::unwrap_used, missing_docs)]

mod damage;
mod files;
mod filled;
mod hostile;
mod others;
mod stock_sqlite;
mod support;
