//! Static peers and meeting points from the environment. If a string is not an address, it is
//! logged and is not put into the engine's configuration, because it could have another meaning
//! there.

use feros_engine::SessionOptions;
use feros_engine::engine::LOG_TARGET;

/// The maximum length of a host name.
const LONGEST: usize = 255;
/// The characters, in addition to letters and digits, that addresses and host names may contain.
/// These characters have no special meaning in XML or in the engine's configuration.
const PUNCTUATION: &str = ".-_:[]/";

fn is_address(peer: &str) -> bool {
    (1..=LONGEST).contains(&peer.len())
        && peer.chars().all(|c| c.is_ascii_alphanumeric() || PUNCTUATION.contains(c))
}

/// Returns the peers that the engine can use.
pub(crate) fn addresses(options: &SessionOptions) -> Vec<&str> {
    options.peers().filter(|peer| is_address(peer)).collect()
}

/// Logs the peers that are omitted. The engine uses the same wording for peers whose address it
/// cannot find.
pub(crate) fn warn_of_others(options: &SessionOptions) {
    options.warn_of_ignored_peers();
    for peer in options.peers().filter(|peer| !is_address(peer)) {
        tracing::warn!(
            target: LOG_TARGET,
            "the peer \"{peer}\" is left out: it is not an address. Correct ROS_STATIC_PEERS or \
             FEROS_MEETING_POINTS; an example is '10.0.0.2;10.0.0.3'"
        );
    }
}
