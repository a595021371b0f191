//! Scenarios: an experiment as data.
//!
//! A file has what the experiment is (`[experiment]`), names for QoS, links and environments that
//! it uses, the figures that show it, and a section for each grid that it belongs to
//! (`[grid.quick]`) with what is different there.

mod check;
mod experiment;
mod quantity;
mod reading;
mod settings;

pub use self::experiment::{Grid, LinkConditions, Procedure, Qos, Scenario, Variables, Workload};
pub use self::quantity::{HowMany, Megabits, Messages, Micros, Percent, Rate, Seconds, Size};
pub use self::reading::{ScenarioFile, scenario_files};
