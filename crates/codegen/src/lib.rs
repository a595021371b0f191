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
//! and one line in `lib.rs`: `feros::include_interfaces!();`. What it holds is then found by
//! package, kind and name: `robot_interfaces::msg::Pose`. The folder looks as in any ROS 2 package:
//! `msg/*.msg`, `srv/*.srv`, `action/*.action`.
//!
//! Each message `Pose` becomes an owned struct `Pose`; what reads it in place, `PoseView`, where
//! there is something to borrow; and what writes it in place, `PoseMut`, with `PoseShape` where not
//! all sizes are fixed. A name that a definition has taken gets an underscore.

mod emit;
mod error;
mod generator;
mod names;

pub use error::Error;
pub use generator::Generator;
