//! Programs of stock rclcpp (`programs/`), compiled and run on one rmw or on two that talk.
//!
//! A program has roles: `alone`, or `serve` and `ask`, which are two processes. It ends with 0 and
//! the line `ok ROLE RMW`; a serving process ends with its input. `FEROS_STOCK` names the folder of
//! the kit that compiles them; without it the tests are skipped. Those on rmw_feros are also
//! skipped without `librmw_feros.so`.

mod kit;
mod run;

pub use kit::Kit;
pub use run::{Leftovers, Rmw, Running};
