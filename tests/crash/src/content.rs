//! The contents of the crash tests' messages, from which a reader learns the sender and whether the
//! message is whole.

use feros::msgs::sensor_msgs::msg::Image;

/// A marker in every message, which the hostile test looks for in shared memory.
pub(crate) const MARKER: &str = "crash-test-marker";

/// Makes the message with this number of the talker `id`.
pub(crate) fn message(id: u32, number: u32, size_bytes: usize) -> Image {
    Image {
        height: number,
        width: id,
        step: size_bytes as u32,
        encoding: MARKER.to_owned(),
        data: vec![fill(id, number); size_bytes],
        ..Image::default()
    }
}

fn fill(id: u32, number: u32) -> u8 {
    (id.wrapping_mul(31).wrapping_add(number)) as u8
}

/// Whether a message is exactly what its talker sent. The data is checked at sample positions
/// throughout the message.
pub(crate) fn is_whole(id: u32, number: u32, step: u32, encoding: &str, data: &[u8]) -> bool {
    let expected = fill(id, number);
    encoding == MARKER
        && data.len() == step as usize
        && data.iter().step_by(1021).all(|byte| *byte == expected)
        && data.last().is_none_or(|byte| *byte == expected)
}
