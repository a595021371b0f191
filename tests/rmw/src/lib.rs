//! Compiles programs that use stock rclcpp (`programs/`), and runs them on one rmw, or on two rmw
//! implementations that communicate.
//!
//! A program has the role `alone`, or the roles `serve` and `ask`, which run in two processes. It
//! exits with 0 after printing the line `ok ROLE RMW`; a serving process ends when its input ends.
//! `FEROS_STOCK` names the folder of the kit that compiles the programs; without it, the tests are
//! skipped. Without `librmw_feros.so`, the tests on rmw_feros are skipped.

mod kit;
mod rmw;
mod run;

pub use kit::Kit;
pub use rmw::Rmw;
pub use run::{Leftovers, Running};
