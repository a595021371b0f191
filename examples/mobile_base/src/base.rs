//! The state of the base, and its displays.

use std::time::Duration;

use example_composition::{Latest, Parts, component, header, log_failure, send};
use feros::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use feros::msgs::geometry_msgs::msg::{PoseStamped, Twist};
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::sensor_msgs::msg::{BatteryState, Joy};
use feros::msgs::std_msgs::msg::{Bool, ColorRGBA, String as Text};
use feros::{Error, QosProfile, Time};
use feros_tf2::glam::{DQuat, DVec3};
use feros_tf2::{StaticTransformBroadcaster, Transform, TransformBroadcaster};

use crate::{action_server, publish_at_rate, sense, serve_switch, serve_trigger};

component!(
    /// The pose of the base, and whether it stands or slips.
    RobotState, "robot_state", "mobile_base::RobotState", robot_state
);

fn robot_state(parts: &mut Parts) -> Result<(), Error> {
    const RATE_HZ: f64 = 20.0;
    let node = parts.node().clone();
    let odometry = node.create_publisher::<Odometry>("odom", QosProfile::sensor_data())?;
    let poses = node.create_publisher::<PoseStamped>("pose", 10)?;
    let transforms = TransformBroadcaster::new(&node)?;
    let stops = node.create_publisher::<Bool>("stop_status", 10)?;
    let motion = parts.newest::<Twist>("cmd_vel_applied", 10)?;
    let reset = Latest::<()>::default();
    let (was_reset, clock) = (reset.clone(), node.clock().clone());
    let (mut x, mut y, mut heading) = (0.0_f64, 0.0_f64, 0.0_f64);
    parts.at_rate(RATE_HZ, move || {
        let motion = motion.read().map(|motion| Twist::clone(&motion)).unwrap_or_default();
        if was_reset.take().is_some() {
            (x, y, heading) = (0.0, 0.0, 0.0);
        }
        heading += motion.angular.z / RATE_HZ;
        x += motion.linear.x / RATE_HZ * heading.cos();
        y += motion.linear.x / RATE_HZ * heading.sin();
        let turned = DQuat::from_rotation_z(heading);
        let pose = Transform::new(DVec3::new(x, y, 0.0), turned);
        let mut odom = Odometry { header: header(&clock, "odom"), ..Odometry::default() };
        odom.child_frame_id = "base_link".to_owned();
        odom.pose.pose = pose.into();
        odom.twist.twist = motion;
        let stamp = Time::from_nanos(odom.header.stamp.to_nanos());
        log_failure(transforms.send_transform(pose.to_stamped("odom", "base_link", stamp)));
        send(&poses, PoseStamped { header: odom.header.clone(), pose: odom.pose.pose.clone() });
        send(&stops, Bool { data: odom.twist.twist == Twist::default() });
        send(&odometry, odom);
    })?;
    sense(parts, "slip_status", RATE_HZ, || Bool { data: false })?;
    sense(parts, "stasis", RATE_HZ, || Bool { data: false })?;
    serve_trigger(parts, "reset_pose", move || reset.set(()))
}

component!(
    /// Buttons, lights, sounds.
    UiManager, "ui_mgr", "mobile_base::UiManager", ui_manager
);

fn ui_manager(parts: &mut Parts) -> Result<(), Error> {
    let clock = parts.node().clock().clone();
    publish_at_rate(parts, "interface_buttons", 10, 10.0, move || Joy {
        header: header(&clock, ""),
        buttons: vec![0; 3],
        ..Joy::default()
    })?;
    let (wanted, are_on) =
        (parts.newest::<ColorRGBA>("cmd_lightring", 10)?, Latest::<bool>::default());
    let on = are_on.clone();
    publish_at_rate(parts, "lightring", 10, 10.0, move || match (wanted.read(), on.read()) {
        (Some(colour), Some(true) | None) => ColorRGBA::clone(&colour),
        _ => ColorRGBA::default(),
    })?;
    let is_mute = Latest::<bool>::default();
    let mute = is_mute.clone();
    publish_at_rate(parts, "audio_state", 10, 1.0, move || Text {
        data: if mute.read() == Some(true) { "mute" } else { "silent" }.to_owned(),
    })?;
    serve_switch(parts, "set_lights", move |data| are_on.set(data))?;
    serve_switch(parts, "mute", move |data| is_mute.set(data))?;
    for action in ["led_animation", "audio_note_sequence"] {
        action_server::serve(parts, action)?;
    }
    Ok(())
}

component!(
    /// The battery, and its consumers.
    PowerManager, "power_manager", "mobile_base::PowerManager", power_manager
);

fn power_manager(parts: &mut Parts) -> Result<(), Error> {
    /// The time that a full battery lasts for.
    const ENDURANCE: Duration = Duration::from_secs(2 * 60 * 60);
    let clock = parts.node().clock().clone();
    let (began, is_charging) = (clock.now(), Latest::<bool>::default());
    let (charging, time) = (is_charging.clone(), clock.clone());
    publish_at_rate(parts, "battery_state", 10, 1.0, move || {
        let used = time.now().saturating_since(began).as_secs_f32() / ENDURANCE.as_secs_f32();
        let percentage = if charging.read() == Some(true) { 1.0 } else { (1.0 - used).max(0.0) };
        let header = header(&time, "base_link");
        BatteryState { header, voltage: 14.4, percentage, present: true, ..BatteryState::default() }
    })?;
    let is_off = Latest::<()>::default();
    let off = is_off.clone();
    publish_at_rate(parts, "power_status", 10, 1.0, move || Bool { data: off.read().is_none() })?;
    publish_at_rate(parts, "/diagnostics", 10, 1.0, move || DiagnosticArray {
        header: header(&clock, ""),
        status: vec![DiagnosticStatus {
            name: "battery".to_owned(),
            ..DiagnosticStatus::default()
        }],
    })?;
    serve_trigger(parts, "power_off", move || is_off.set(()))?;
    serve_switch(parts, "charge", move |data| is_charging.set(data))
}

component!(
    /// The frames of the base's parts, which never move.
    StaticTransform, "static_transform", "mobile_base::StaticTransform", static_transform
);

fn static_transform(parts: &mut Parts) -> Result<(), Error> {
    let fixed = || QosProfile::keep_last(1).transient_local();
    let clock = parts.node().clock().clone();
    let transforms = StaticTransformBroadcaster::new(parts.node())?;
    let frame = |(child, x): (&str, f64)| {
        let mount = Transform::from_translation(DVec3::new(x, 0.0, 0.0));
        mount.to_stamped("base_link", child, clock.now())
    };
    let frames = [("imu", 0.05), ("mouse", -0.1), ("bumper", 0.17), ("ir_omni", 0.15)];
    log_failure(transforms.send_transforms(frames.into_iter().map(frame).collect()));
    parts.keep(transforms);
    let description = parts.node().create_publisher::<Text>("base_description", fixed())?;
    send(&description, Text { data: "a disk of 0.34 m with two wheels".to_owned() });
    parts.keep(description);
    Ok(())
}
