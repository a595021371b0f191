//! The plan of a run: its cells in order, which of them are impossible and why, and how long the
//! rest takes.

mod cell;
mod costs;
mod schedule;

pub use self::cell::Cell;
pub use self::costs::Costs;
pub use self::schedule::{Plan, Step};

#[cfg(test)]
mod tests;
