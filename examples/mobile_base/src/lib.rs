//! A mobile base, like that of a robot vacuum cleaner: ten nodes with more than 30 topics, ten
//! services and ten action servers.
//!
//! The cost of such a base comes from the number of its endpoints and the rate of its small
//! messages: most sensors are read at 62.5 Hz. The sensor values are made up, but the wheels follow
//! `cmd_vel`.
//!
//! | node | topics that it publishes | services | actions |
//! |---|---|---|---|
//! | [`RobotState`] | `odom`, `tf`, `stop_status`, `slip_status`, `stasis`, `pose` | `reset_pose` | |
//! | [`WheelSensors`] | `wheel_ticks`, `wheel_vels`, `wheel_status`, `joint_states` | | |
//! | [`MotionSensors`] | `imu`, `mouse`, `magnetic_field`, `imu_temperature` | `calibrate_imu` | |
//! | [`HazardSensors`] | `hazard_detection`, `bump`, `ir_intensity`, `cliff_intensity`, `ir_opcode`, `wheel_drop` | `clear_hazards` | |
//! | [`KidnapStatus`] | `kidnap_status`, `mobility` | | |
//! | [`MotionControl`] | `control_state`, `cmd_vel_applied` | `e_stop`, `set_safety` | `drive_distance`, `drive_arc`, `rotate_angle`, `navigate_to_position`, `wall_follow` |
//! | [`Docking`] | `dock_status`, `dock_range` | `forget_dock` | `dock`, `undock`, `go_home` |
//! | [`UiManager`] | `interface_buttons`, `lightring`, `audio_state` | `set_lights`, `mute` | `led_animation`, `audio_note_sequence` |
//! | [`PowerManager`] | `battery_state`, `power_status`, `diagnostics` | `power_off`, `charge` | |
//! | [`StaticTransform`] | `tf_static`, `base_description` | | |
//!
//! All ten actions have the type `example_interfaces/action/Fibonacci`, and compute Fibonacci
//! numbers, one per step (see [`action_server`]).
#![forbid(unsafe_code)]

pub mod action_server;
mod base;
mod motion;
mod sensors;

pub use base::{PowerManager, RobotState, StaticTransform, UiManager};
pub use motion::{Docking, MotionControl};
pub use sensors::{HazardSensors, KidnapStatus, MotionSensors, WheelSensors};

use example_composition::{Parts, send};
use feros::message::Message;
use feros::msgs::std_srvs::srv::{
    SetBool, SetBool_Request, SetBool_Response, Trigger, Trigger_Request, Trigger_Response,
};
use feros::{Error, PublisherOptions, QosProfile};

/// The rate at which most sensors are read, per second.
const SENSOR_HZ: f64 = 62.5;

/// Publishes a new message at a steady rate with the QoS of sensors, since late messages are
/// useless.
fn sense<M: Message>(
    parts: &mut Parts,
    topic: &str,
    rate_hz: f64,
    make: impl FnMut() -> M + Send + 'static,
) -> Result<(), Error> {
    publish_at_rate(parts, topic, QosProfile::sensor_data(), rate_hz, make)
}

/// Publishes a new message at a steady rate.
fn publish_at_rate<M: Message>(
    parts: &mut Parts,
    topic: &str,
    options: impl Into<PublisherOptions>,
    rate_hz: f64,
    mut make: impl FnMut() -> M + Send + 'static,
) -> Result<(), Error> {
    let publisher = parts.node().create_publisher::<M>(topic, options)?;
    parts.at_rate(rate_hz, move || send(&publisher, make()))
}

/// Adds a service of the type `Trigger`.
fn serve_trigger(
    parts: &mut Parts,
    name: &'static str,
    mut act: impl FnMut() + Send + 'static,
) -> Result<(), Error> {
    parts.serve::<Trigger, _>(name, move |_: Trigger_Request| {
        act();
        Trigger_Response { success: true, message: format!("{name}: done") }
    })
}

/// Adds a service that sets a switch.
fn serve_switch(
    parts: &mut Parts,
    name: &'static str,
    mut switch: impl FnMut(bool) + Send + 'static,
) -> Result<(), Error> {
    parts.serve::<SetBool, _>(name, move |request: SetBool_Request| {
        switch(request.data);
        SetBool_Response { success: true, message: format!("{name}: {}", request.data) }
    })
}
