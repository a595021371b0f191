//! The sensors of the base: wheels, motion, hazards, and whether it is lifted.

use std::sync::Arc;

use example_composition::{Latest, Parts, component, header, send};
use feros::msgs::geometry_msgs::msg::{Twist, TwistStamped};
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::sensor_msgs::msg::{Imu, JointState, MagneticField, Temperature};
use feros::msgs::std_msgs::msg::{Bool, Int16MultiArray, Int32MultiArray, UInt8};
use feros::{Error, QosProfile};

use crate::{SENSOR_HZ, sense, serve_trigger};

component!(
    /// Counts the turns of the wheels.
    WheelSensors, "wheel_sensors", "mobile_base::WheelSensors", wheel_sensors
);

fn wheel_sensors(parts: &mut Parts) -> Result<(), Error> {
    const TICKS_PER_METRE: f64 = 2000.0;
    const HALF_TRACK: f64 = 0.1165;
    let clock = parts.node().clock().clone();
    let motion = parts.newest::<Twist>("cmd_vel_applied", 10)?;
    let speeds = move || {
        let (speed, turn) =
            motion.read().map_or((0.0, 0.0), |motion| (motion.linear.x, motion.angular.z));
        [speed - HALF_TRACK * turn, speed + HALF_TRACK * turn]
    };
    let mut turned = [0.0; 2];
    let now = speeds.clone();
    sense(parts, "wheel_ticks", SENSOR_HZ, move || {
        for (turned, speed) in turned.iter_mut().zip(now()) {
            *turned += speed / SENSOR_HZ * TICKS_PER_METRE;
        }
        // These counters wrap around, like those of real wheels.
        let data = turned.iter().map(|ticks| *ticks as i64 as i32).collect();
        Int32MultiArray { data, ..Int32MultiArray::default() }
    })?;
    let now = speeds.clone();
    sense(parts, "wheel_vels", SENSOR_HZ, move || {
        let data = now().iter().map(|speed| (speed * 1000.0) as i16).collect();
        Int16MultiArray { data, ..Int16MultiArray::default() }
    })?;
    sense(parts, "wheel_status", 1.0, || UInt8 { data: 0 })?;
    sense(parts, "joint_states", SENSOR_HZ, move || JointState {
        header: header(&clock, ""),
        name: vec!["left_wheel_joint".to_owned(), "right_wheel_joint".to_owned()],
        velocity: speeds().to_vec(),
        ..JointState::default()
    })
}

component!(
    /// Inertial unit, optical mouse, compass.
    MotionSensors, "motion_sensors", "mobile_base::MotionSensors", motion_sensors
);

fn motion_sensors(parts: &mut Parts) -> Result<(), Error> {
    let clock = parts.node().clock().clone();
    let motion = parts.newest::<Twist>("cmd_vel_applied", 10)?;
    let (offset, turning) = (Latest::<f64>::default(), motion.clone());
    let (calibrated, stamp) = (offset.clone(), clock.clone());
    sense(parts, "imu", 100.0, move || {
        let mut measured = Imu { header: header(&stamp, "imu"), ..Imu::default() };
        measured.linear_acceleration.z = 9.81;
        measured.angular_velocity.z = turning.read().map_or(0.0, |motion| motion.angular.z)
            - calibrated.read().unwrap_or_default();
        measured
    })?;
    let stamp = clock.clone();
    sense(parts, "mouse", SENSOR_HZ, move || TwistStamped {
        header: header(&stamp, "mouse"),
        twist: motion.read().map(|motion| Twist::clone(&motion)).unwrap_or_default(),
    })?;
    let stamp = clock.clone();
    sense(parts, "magnetic_field", 20.0, move || MagneticField {
        header: header(&stamp, "imu"),
        ..MagneticField::default()
    })?;
    sense(parts, "imu_temperature", 1.0, move || Temperature {
        header: header(&clock, "imu"),
        temperature: 35.0,
        variance: 0.0,
    })?;
    serve_trigger(parts, "calibrate_imu", move || offset.set(0.0))
}

component!(
    /// Bumpers, edges of the floor, infrared.
    HazardSensors, "hazard_sensors", "mobile_base::HazardSensors", hazard_sensors
);

fn hazard_sensors(parts: &mut Parts) -> Result<(), Error> {
    let seven = |value| Int16MultiArray { data: vec![value; 7], ..Int16MultiArray::default() };
    let cleared = Latest::<()>::default();
    let forget = cleared.clone();
    sense(parts, "ir_intensity", SENSOR_HZ, move || seven(12))?;
    sense(parts, "cliff_intensity", SENSOR_HZ, move || seven(900))?;
    sense(parts, "ir_opcode", SENSOR_HZ, || UInt8 { data: 160 })?;
    sense(parts, "bump", SENSOR_HZ, || Bool { data: false })?;
    sense(parts, "wheel_drop", SENSOR_HZ, || Bool { data: false })?;
    sense(parts, "hazard_detection", SENSOR_HZ, move || {
        forget.take();
        Int16MultiArray::default()
    })?;
    serve_trigger(parts, "clear_hazards", move || cleared.set(()))
}

component!(
    /// Whether the base stands on the floor, and whether it can move.
    KidnapStatus, "kidnap_status", "mobile_base::KidnapStatus", kidnap_status
);

fn kidnap_status(parts: &mut Parts) -> Result<(), Error> {
    let kidnapped =
        parts.node().create_publisher::<Bool>("kidnap_status", QosProfile::sensor_data())?;
    let wheel_drop = parts.newest::<Bool>("wheel_drop", QosProfile::sensor_data())?;
    parts.hear(
        "cliff_intensity",
        QosProfile::sensor_data(),
        move |cliffs: Arc<Int16MultiArray>| {
            // If no sensor sees the floor, the base has been lifted.
            let is_lifted =
                !cliffs.data.is_empty() && cliffs.data.iter().all(|intensity| *intensity < 100);
            let data = is_lifted || wheel_drop.read().is_some_and(|dropped| dropped.data);
            send(&kidnapped, Bool { data });
        },
    )?;
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    sense(parts, "mobility", 10.0, move || Bool { data: odometry.read().is_some() })
}
