//! The base composed by hand: `mobile_base` runs all nodes in one process, `mobile_base
//! motion_control` runs only the node `motion_control`.

use std::process::ExitCode;

use example_composition::{Entry, entry};
use mobile_base::*;

const COMPONENTS: [Entry; 10] = [
    entry::<RobotState>("robot_state"),
    entry::<WheelSensors>("wheel_sensors"),
    entry::<MotionSensors>("motion_sensors"),
    entry::<HazardSensors>("hazard_sensors"),
    entry::<KidnapStatus>("kidnap_status"),
    entry::<MotionControl>("motion_control"),
    entry::<Docking>("docking"),
    entry::<UiManager>("ui_mgr"),
    entry::<PowerManager>("power_manager"),
    entry::<StaticTransform>("static_transform"),
];

fn main() -> ExitCode {
    example_composition::main(&COMPONENTS)
}
