//! What a run will do: its cells in their order, what of them cannot be done and why, and how long
//! the rest takes.

mod cell;
mod costs;
mod schedule;

pub use self::cell::Cell;
pub use self::costs::Costs;
pub use self::schedule::{Plan, Step};

#[cfg(test)]
mod tests;
