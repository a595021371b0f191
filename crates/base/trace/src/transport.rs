//! The transports that carry a message from a publisher to a subscription. They are defined in this
//! crate because every crate that uses their names also records trace points.

use std::fmt;

/// The transport of a message from a publisher to a subscription. The variants are listed in order,
/// from the most to the least direct transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Transport {
    /// A pointer, between endpoints of one process.
    IntraProcess = 1,
    /// Shared memory, between processes of one host.
    SharedMemory = 2,
    /// The engine, such as DDS.
    Network = 3,
}

impl Transport {
    /// All transports, in the order from the most to the least direct transport.
    pub const ALL: [Self; 3] = [Self::IntraProcess, Self::SharedMemory, Self::Network];

    /// The transport's name in users' settings: `intra_process`, `shared_memory` or `network`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntraProcess => "intra_process",
            Self::SharedMemory => "shared_memory",
            Self::Network => "network",
        }
    }

    /// The transport with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transport| transport.name() == name)
    }

    /// The transport that has this number in trace files, or `None` for zero.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|transport| *transport as u8 == number)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_are_found_by_name_and_number() {
        for transport in Transport::ALL {
            assert_eq!(Transport::from_name(transport.name()), Some(transport));
            assert_eq!(Transport::from_number(transport as u8), Some(transport));
        }
        assert_eq!(Transport::from_number(0), None);
        assert_eq!(Transport::from_name("SharedMemory"), None);
        assert_eq!(Transport::SharedMemory.to_string(), "shared_memory");
        assert!(Transport::IntraProcess < Transport::SharedMemory);
        assert!(Transport::SharedMemory < Transport::Network);
    }
}
