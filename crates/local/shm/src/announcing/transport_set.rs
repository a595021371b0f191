//! The transports that an endpoint, a node or a process allows.

use std::fmt;
use std::str::FromStr;

use feros_trace::Transport;

/// A set of transports that may be used. The default is all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransportSet(u8);

impl TransportSet {
    /// All transports.
    pub const ALL: Self = Self(0b111);
    /// No transport, so that no message can be delivered.
    pub const NONE: Self = Self(0);
    /// The environment variable that restricts the transports of all endpoints of a process.
    pub const ENVIRONMENT_VARIABLE: &'static str = "FEROS_TRANSPORTS";

    /// The transports that [`TransportSet::ENVIRONMENT_VARIABLE`] allows. If the variable is not
    /// set, these are all transports.
    ///
    /// # Errors
    /// The value of the variable is not a list of transports, or is not Unicode.
    pub fn from_env() -> Result<Self, ParseTransportsError> {
        match std::env::var_os(Self::ENVIRONMENT_VARIABLE) {
            None => Ok(Self::ALL),
            Some(value) => value.to_string_lossy().parse(),
        }
    }

    const fn bit(transport: Transport) -> u8 {
        1 << (transport as u8 - 1)
    }

    /// Whether the set contains `transport`.
    pub const fn contains(self, transport: Transport) -> bool {
        self.0 & Self::bit(transport) != 0
    }

    /// This set with `transport` added.
    #[must_use]
    pub const fn with(self, transport: Transport) -> Self {
        Self(self.0 | Self::bit(transport))
    }

    /// This set without `transport`.
    #[must_use]
    pub const fn without(self, transport: Transport) -> Self {
        Self(self.0 & !Self::bit(transport))
    }

    /// The transports that are in both sets.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the set contains no transport.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// The allowed transports, in the order from the most to the least direct transport.
    pub fn iter(self) -> impl Iterator<Item = Transport> {
        Transport::ALL.into_iter().filter(move |&transport| self.contains(transport))
    }
}

impl Default for TransportSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<Transport> for TransportSet {
    fn from_iter<I: IntoIterator<Item = Transport>>(transports: I) -> Self {
        transports.into_iter().fold(Self::NONE, Self::with)
    }
}

impl From<Transport> for TransportSet {
    fn from(transport: Transport) -> Self {
        Self::NONE.with(transport)
    }
}

/// Writes the names, separated by commas, in the form that [`FromStr`] parses.
impl fmt::Display for TransportSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.iter().map(Transport::name).collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for TransportSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Parses lower-case names that are separated by commas. Spaces around the names are ignored.
impl FromStr for TransportSet {
    type Err = ParseTransportsError;

    fn from_str(text: &str) -> Result<Self, ParseTransportsError> {
        if text.trim().is_empty() {
            return Err(ParseTransportsError::Empty);
        }
        let unknown = |word: &str| ParseTransportsError::UnknownTransport { word: word.to_owned() };
        text.split(',')
            .map(str::trim)
            .map(|word| Transport::from_name(word).ok_or_else(|| unknown(word)))
            .collect()
    }
}

/// The reason why a string is not a list of transports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseTransportsError {
    /// A word in the list is not the name of a transport.
    #[error(
        "`{word}` is not a transport: write one or more of intra_process, shared_memory and \
         network, separated by commas"
    )]
    UnknownTransport {
        /// The word.
        word: String,
    },
    /// The list is empty.
    #[error(
        "no transport is named, so nothing could be delivered: write one or more of intra_process, \
         shared_memory and network, separated by commas"
    )]
    Empty,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_read_and_written_as_a_list() {
        let set: TransportSet = " shared_memory , network".parse().unwrap();
        assert_eq!(set, TransportSet::from_iter([Transport::Network, Transport::SharedMemory]));
        assert_eq!(set.to_string(), "shared_memory,network");
        assert_eq!("network,network".parse(), Ok(TransportSet::from(Transport::Network)));
        assert_eq!(TransportSet::default().to_string(), "intra_process,shared_memory,network");
        assert_eq!("".parse::<TransportSet>(), Err(ParseTransportsError::Empty));
        assert_eq!(
            "network,shm".parse::<TransportSet>(),
            Err(ParseTransportsError::UnknownTransport { word: "shm".to_owned() })
        );
        assert!("network,".parse::<TransportSet>().is_err());
    }

    #[test]
    fn sets_are_sets() {
        let set = TransportSet::ALL.without(Transport::SharedMemory);
        assert!(
            set.contains(Transport::IntraProcess)
                && !set.contains(Transport::SharedMemory)
                && set.contains(Transport::Network)
        );
        assert_eq!(set.with(Transport::SharedMemory), TransportSet::ALL);
        assert_eq!(
            set.intersection(TransportSet::from(Transport::SharedMemory)),
            TransportSet::NONE
        );
        assert!(TransportSet::NONE.is_empty() && !set.is_empty());
        assert_eq!(format!("{set:?}"), "{IntraProcess, Network}");
    }
}
