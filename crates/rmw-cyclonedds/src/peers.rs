//! Static peers come from the environment: a text that is not an address is logged and kept out of
//! the engine's configuration, where it could mean something else.

use feros_rmw::SessionOptions;
use feros_rmw::engine::LOG_TARGET;

/// The longest name that a host can have.
const LONGEST: usize = 255;
/// The characters of addresses and host names besides letters and digits. None of them has a
/// meaning in XML or in the engine's configuration.
const PUNCTUATION: &str = ".-_:[]/";

fn is_address(peer: &str) -> bool {
    (1..=LONGEST).contains(&peer.len())
        && peer.chars().all(|c| c.is_ascii_alphanumeric() || PUNCTUATION.contains(c))
}

/// The peers that the engine can look for.
pub(crate) fn addresses(options: &SessionOptions) -> Vec<&str> {
    options.static_peers.iter().map(String::as_str).filter(|peer| is_address(peer)).collect()
}

/// Logs the peers that are left out. The engine logs peers whose address it cannot find in the same
/// words.
pub(crate) fn warn_of_others(options: &SessionOptions) {
    for peer in options.static_peers.iter().filter(|peer| !is_address(peer)) {
        tracing::warn!(
            target: LOG_TARGET,
            "the peer \"{peer}\" is left out: it is not an address. Check ROS_STATIC_PEERS, such as \
             '10.0.0.2;10.0.0.3'"
        );
    }
}
