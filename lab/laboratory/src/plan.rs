//! The plan of a run: the cells in the order of the run, the reasons why some cells are impossible,
//! and the time that the other cells take.

mod cell;
mod costs;
mod schedule;

pub use self::cell::Cell;
pub use self::costs::Costs;
pub use self::schedule::{Plan, Step};

#[cfg(test)]
mod tests;
