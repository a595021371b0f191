//! A message with a header and arrays, serialized as CDR.
#![allow(dead_code, reason = "each test uses some of it")]

use feros_conformance::TestType;

pub(crate) const JOINT_STATE: TestType = (
    "sensor_msgs/msg/JointState",
    "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
);

/// `sensor_msgs/msg/JointState` without efforts.
#[derive(Clone)]
pub(crate) struct JointState {
    pub(crate) stamp: (i32, u32),
    pub(crate) frame: &'static str,
    pub(crate) names: Vec<&'static str>,
    pub(crate) positions: Vec<f64>,
    pub(crate) velocities: Vec<f64>,
}

impl JointState {
    /// Creates a message in which all fields have different values.
    pub(crate) fn example() -> Self {
        Self {
            stamp: (1_700_000_000, 999_999_999),
            frame: "bäse",
            names: vec!["shoulder", "", "wrist"],
            positions: vec![0.5, -1.25, 1e-300],
            velocities: vec![f64::MAX],
        }
    }

    /// The message that the peers send back: it is one second later, the names are in reverse
    /// order, and the positions are doubled.
    pub(crate) fn changed(mut self) -> Self {
        self.stamp.0 += 1;
        self.names.reverse();
        self.positions.iter_mut().for_each(|position| *position *= 2.0);
        self
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0, 1, 0, 0];
        bytes.extend(self.stamp.0.to_le_bytes());
        bytes.extend(self.stamp.1.to_le_bytes());
        put_text(&mut bytes, self.frame);
        put_length(&mut bytes, self.names.len());
        self.names.iter().for_each(|name| put_text(&mut bytes, name));
        put_numbers(&mut bytes, &self.positions);
        put_numbers(&mut bytes, &self.velocities);
        put_numbers(&mut bytes, &[]);
        bytes
    }
}

/// Aligns the end of the bytes. Alignment is counted from the end of the four header bytes.
fn align(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(4 + (bytes.len() - 4).next_multiple_of(to), 0);
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    align(bytes, 4);
    bytes.extend(u32::try_from(length).unwrap().to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_length(bytes, text.len() + 1);
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

fn put_numbers(bytes: &mut Vec<u8>, numbers: &[f64]) {
    put_length(bytes, numbers.len());
    for number in numbers {
        align(bytes, 8);
        bytes.extend(number.to_le_bytes());
    }
}
