//! Generates Rust source from interface definitions, both for the standard packages and for your
//! own.
//!
//! A package of definitions becomes a Rust module with three lines in `build.rs`,
//!
//! ```no_run
//! fn main() -> Result<(), feros_codegen::Error> {
//!     feros_codegen::Generator::new().package_dir("interfaces/robot_interfaces").generate()
//! }
//! ```
//!
//! and one line in `lib.rs`: `feros::include_interfaces!();`. Its types are then available by
//! package, kind and name: `robot_interfaces::msg::Pose`. The folder has the layout of any ROS 2
//! package: `msg/*.msg`, `srv/*.srv`, `action/*.action`.
//!
//! `robot_package("nav2_msgs")` instead of `package_dir` generates a package that robots use and
//! that Feros ships (`interfaces/README.md` lists these packages), with all packages to which it
//! refers.
//!
//! Each message `Pose` becomes an owned struct `Pose`. If a part of the message can be borrowed,
//! there is also `PoseView`, which reads the message from received bytes without a copy. `PoseMut`
//! writes the message directly into the memory that will be sent. If some sizes are not fixed,
//! `PoseShape` gives these sizes. If a definition already uses one of these names, the generated
//! name gets an underscore.
//!
//! # Invariants
//!
//! For every name that the grammar of interfaces allows, the generated source compiles
//! (`tests/corner_cases`).

mod emit;
mod error;
mod generator;
mod names;

pub use error::Error;
pub use generator::Generator;
