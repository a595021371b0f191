//! Scenarios: an experiment as data.
//!
//! A scenario file has the experiment (`[experiment]`), the named QoS, links and environments that
//! the experiment uses, the figures that show it, and a section for each grid that it belongs to
//! (such as `[grid.quick]`), with the settings that differ in that grid. A scenario that repeats an
//! experiment of a document also has the document's own conditions (`[conditions]`).

mod cells;
mod check;
mod conditions;
mod experiment;
mod quantity;
mod reading;
mod settings;

pub use self::experiment::{
    Grid, LinkConditions, Procedure, Qos, Scenario, StartOrder, Variables, Workload,
};
pub use self::quantity::{HowMany, Megabits, Messages, Micros, Percent, Rate, Seconds, Size};
pub use self::reading::{ScenarioFile, scenario_files};
