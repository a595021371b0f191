//! Scenarios: an experiment as data.
//!
//! A file has the experiment (`[experiment]`), the QoS, links and environments that it uses, by
//! name, the figures that show it, and a section for each grid that it belongs to (`[grid.quick]`)
//! with that grid's differences.

mod check;
mod experiment;
mod quantity;
mod reading;
mod settings;

pub use self::experiment::{Grid, LinkConditions, Procedure, Qos, Scenario, Variables, Workload};
pub use self::quantity::{HowMany, Megabits, Messages, Micros, Percent, Rate, Seconds, Size};
pub use self::reading::{ScenarioFile, scenario_files};
