//! Generates Rust source from interface definitions, for the standard packages and for a user's
//! own.
//!
//! A package of definitions becomes a Rust module with three lines of `build.rs`,
//!
//! ```no_run
//! fn main() -> Result<(), feros_codegen::Error> {
//!     feros_codegen::Generator::new().package_dir("interfaces/robot_interfaces").generate()
//! }
//! ```
//!
//! and one line in `lib.rs`: `feros::include_interfaces!();`. Its types are then found by package,
//! kind and name: `robot_interfaces::msg::Pose`. The folder has the layout of any ROS 2 package:
//! `msg/*.msg`, `srv/*.srv`, `action/*.action`.
//!
//! Each message `Pose` becomes an owned struct `Pose`; `PoseView`, which reads it in place, if it
//! has something to borrow; and `PoseMut`, which writes it in place, with `PoseShape` if not all
//! sizes are fixed. A name that a definition uses already gets an underscore.
//!
//! # Invariants
//!
//! Every name that the grammar of interfaces allows gives source that compiles
//! (`tests/corner_cases`).

mod emit;
mod error;
mod generator;
mod names;

pub use error::Error;
pub use generator::Generator;
