//! The buffer backends of an endpoint: the kinds of memory from which it can take the arrays of its
//! messages.
//!
//! In ROS 2 Lyrical, the memory of an array may belong to a GPU (`rosidl::Buffer`). A publisher and
//! a subscription that have a backend in common pass a description of that memory to each other,
//! over topics of their own. To all other subscriptions, the publisher sends the array itself, as
//! always. Endpoints of Feros announce no backends, so they always get the array.
//!
//! Both wires have the same list in different forms: `bufbe=cpu:,cuda:0;` in the USER_DATA of
//! `rmw_fastrtps` (`qos.cpp`), and `/backends:cpu:;cuda:0` at the end of a token of `rmw_zenoh`
//! (`liveliness_utils.cpp`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The limit on the number of backends that are read for an endpoint. Further backends are
/// skipped.
pub const MAX_BUFFER_BACKENDS: usize = 16;
/// The limit on the size of a backend's name, and on the size of its data, in bytes. Longer
/// entries are skipped.
pub const MAX_BUFFER_BACKEND_BYTES: usize = 256;

/// A backend that an endpoint announces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferBackend {
    /// The name, such as `cpu` or `cuda`.
    pub name: String,
    /// The backend's description of itself; often empty.
    pub data: String,
}

/// Formats the backend as its name, followed by its data in parentheses if it has any.
impl fmt::Display for BufferBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.data.is_empty() { Ok(()) } else { write!(f, "({})", self.data) }
    }
}

impl BufferBackend {
    /// Reads the entries of a list from the network, each `name:data` or `name`, and sorts them by
    /// name. `decode` removes the escapes of names and data. Malformed entries are skipped, and the
    /// last entry with a name is valid. Returns `None` if no entry is valid.
    pub fn read<'a>(
        entries: impl Iterator<Item = &'a str>,
        decode: impl Fn(&str) -> Option<String>,
    ) -> Option<Arc<[Self]>> {
        let mut found = BTreeMap::new();
        for entry in entries {
            let (name, data) = entry.split_once(':').unwrap_or((entry, ""));
            let (Some(name), Some(data)) = (decode(name), decode(data)) else { continue };
            let is_valid = |text: &str| {
                text.len() <= MAX_BUFFER_BACKEND_BYTES && !text.contains(char::is_control)
            };
            if name.is_empty() || !is_valid(&name) || !is_valid(&data) {
                continue;
            }
            if found.len() < MAX_BUFFER_BACKENDS || found.contains_key(&name) {
                found.insert(name, data);
            }
        }
        let backends: Arc<[Self]> =
            found.into_iter().map(|(name, data)| Self { name, data }).collect();
        (!backends.is_empty()).then_some(backends)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(list: &str) -> Option<String> {
        let backends = BufferBackend::read(list.split(','), |text| Some(text.to_owned()))?;
        Some(backends.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn lists_are_read_in_the_order_of_their_names() {
        assert_eq!(read("cpu:").as_deref(), Some("cpu"));
        assert_eq!(read("gpu:device=0,cpu:").as_deref(), Some("cpu, gpu(device=0)"));
        assert_eq!(read("cpu").as_deref(), Some("cpu"));
        assert_eq!(read("a:b:c").as_deref(), Some("a(b:c)"));
        assert_eq!(read("cpu:,cpu:new").as_deref(), Some("cpu(new)"));
    }

    #[test]
    fn what_is_not_a_backend_is_skipped_and_lists_are_bounded() {
        for none in ["", ",,", ":data", "a\nb:", "a:\u{1b}[1m", &"x".repeat(257)] {
            assert_eq!(read(none), None, "{none:?}");
        }
        assert_eq!(read(&format!("a:{},cpu:", "x".repeat(257))).as_deref(), Some("cpu"));
        let many: Vec<_> = (0..1000).map(|number| format!("b{number:04}:")).collect();
        let many = format!("{},b0003:last", many.join(","));
        let read = BufferBackend::read(many.split(','), |text| Some(text.to_owned())).unwrap();
        assert_eq!(read.len(), MAX_BUFFER_BACKENDS);
        assert_eq!(read[3].to_string(), "b0003(last)");
    }
}
