//! The motion of the base: commands, manoeuvres and docking.

use example_composition::{Latest, Parts, component, send};
use feros::msgs::geometry_msgs::msg::Twist;
use feros::msgs::sensor_msgs::msg::Range;
use feros::msgs::std_msgs::msg::{Bool, Int16MultiArray, String as Text};
use feros::{Error, QosProfile};

use crate::{action_server, publish_at_rate, sense, serve_switch, serve_trigger};

component!(
    /// Passes commands on to the wheels, within safe limits, and executes manoeuvres.
    MotionControl, "motion_control", "mobile_base::MotionControl", motion_control
);

fn motion_control(parts: &mut Parts) -> Result<(), Error> {
    const RATE_HZ: f64 = 50.0;
    /// The number of steps without a command after which the base stops: half a second.
    const PATIENCE_STEPS: u32 = 25;
    let max_speed = parts.node().build_parameter("max_speed", 0.3).range(0.0..=0.46).declare()?;
    let is_stopped = Latest::<bool>::default();
    let commands = Latest::<Twist>::default();
    let inside = commands.clone();
    parts.hear("cmd_vel", 10, move |command: Twist| inside.set(command))?;
    // Hazards stop the base here too: a base that has bumped into an obstacle does not go on.
    let hazards = parts.newest::<Int16MultiArray>("hazard_detection", QosProfile::sensor_data())?;
    let applied = parts.node().create_publisher::<Twist>("cmd_vel_applied", 10)?;
    let (mut command, mut steps_without) = (Twist::default(), 0);
    let stopped = is_stopped.clone();
    parts.at_rate(RATE_HZ, move || {
        match commands.take() {
            Some(newer) => (command, steps_without) = (newer, 0),
            None if steps_without < PATIENCE_STEPS => steps_without += 1,
            None => command = Twist::default(),
        }
        let is_hazard = hazards.read().is_some_and(|hazards| !hazards.data.is_empty());
        let mut safe = command.clone();
        if stopped.read() == Some(true)
            || is_hazard
            || !safe.linear.x.is_finite()
            || !safe.angular.z.is_finite()
        {
            safe = Twist::default();
        }
        let limit = max_speed.get();
        safe.linear.x = safe.linear.x.clamp(-limit, limit);
        send(&applied, safe);
    })?;
    let (stopped, stop) = (is_stopped.clone(), is_stopped);
    publish_at_rate(parts, "control_state", 10, 5.0, move || Text {
        data: if stopped.read() == Some(true) { "stopped" } else { "ready" }.to_owned(),
    })?;
    serve_switch(parts, "e_stop", move |data| stop.set(data))?;
    let safety = Latest::<bool>::default();
    serve_switch(parts, "set_safety", move |data| safety.set(data))?;
    for action in
        ["drive_distance", "drive_arc", "rotate_angle", "navigate_to_position", "wall_follow"]
    {
        action_server::serve(parts, action)?;
    }
    Ok(())
}

component!(
    /// Finds the dock and drives to it.
    Docking, "docking", "mobile_base::Docking", docking
);

fn docking(parts: &mut Parts) -> Result<(), Error> {
    let is_known = Latest::<()>::default();
    let known = is_known.clone();
    publish_at_rate(
        parts,
        "dock_status",
        QosProfile::keep_last(1).transient_local(),
        1.0,
        move || Bool { data: known.read().is_some() },
    )?;
    let opcodes = is_known.clone();
    parts.hear(
        "ir_opcode",
        QosProfile::sensor_data(),
        move |seen: feros::msgs::std_msgs::msg::UInt8| {
            if seen.data == 168 {
                opcodes.set(());
            }
        },
    )?;
    sense(parts, "dock_range", 10.0, || Range {
        min_range: 0.0,
        max_range: 2.0,
        range: 1.0,
        ..Range::default()
    })?;
    serve_trigger(parts, "forget_dock", move || {
        is_known.take();
    })?;
    for action in ["dock", "undock", "go_home"] {
        action_server::serve(parts, action)?;
    }
    Ok(())
}
