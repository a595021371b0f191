//! The pipeline composed by hand: `pipeline` runs all components in one process, `pipeline camera
//! detector` runs only the two named components.

use std::process::ExitCode;

use example_composition::{Entry, entry};
use pipeline::{Camera, Controller, Detector, Planner, Tracker};

const COMPONENTS: [Entry; 5] = [
    entry::<Camera>("camera"),
    entry::<Detector>("detector"),
    entry::<Tracker>("tracker"),
    entry::<Planner>("planner"),
    entry::<Controller>("controller"),
];

fn main() -> ExitCode {
    example_composition::main(&COMPONENTS)
}
