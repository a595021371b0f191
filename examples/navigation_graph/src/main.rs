//! The graph composed by hand: `navigation_graph` runs all nodes in one process, `navigation_graph
//! amcl` runs only the node `amcl`.

use std::process::ExitCode;

use example_composition::{Entry, entry};
use navigation_graph::*;

const COMPONENTS: [Entry; 15] = [
    entry::<LaserDriver>("laser_driver"),
    entry::<BaseDriver>("base_driver"),
    entry::<RobotStatePublisher>("robot_state_publisher"),
    entry::<MapServer>("map_server"),
    entry::<Amcl>("amcl"),
    entry::<GlobalCostmap>("global_costmap"),
    entry::<LocalCostmap>("local_costmap"),
    entry::<PlannerServer>("planner_server"),
    entry::<SmootherServer>("smoother_server"),
    entry::<ControllerServer>("controller_server"),
    entry::<BehaviorServer>("behavior_server"),
    entry::<BtNavigator>("bt_navigator"),
    entry::<VelocitySmoother>("velocity_smoother"),
    entry::<CollisionMonitor>("collision_monitor"),
    entry::<LifecycleManager>("lifecycle_manager"),
];

fn main() -> ExitCode {
    example_composition::main(&COMPONENTS)
}
