//! Applies the patches of the folder `patches` to the source of Cyclone DDS. Each patch begins with
//! its reasons.
//!
//! A patch has the form of a unified diff, but finds its places by their text. `=== FILE` names the
//! file of the changes that follow, and `@@` begins a change. The lines of a change that begin with
//! a space or with `-` are the text that it replaces; those that begin with a space or with `+` are
//! the new text. An empty line belongs to both. After `@@ 3 times`, the text occurs three times.
//!
//! Each text must occur exactly as often as the change says; otherwise, the build fails. So a new
//! upstream version can never be built without the patches or with only a part of them.
//!
//! | patch | purpose |
//! |---|---|
//! | `serdata` | the identity of requests in inline QoS; the origin of received samples |
//! | `discovery` | participants learn of all endpoints, and of each other soon after a separation |
//! | `fast_dds` | communication with Fast DDS |
//! | `matches` | the matches are read without a race, and without waiting for a write |
//! | `added_functions` | functions for the shim: two waits, and a look at the room of readers |
//! | `full_readers` | a full reliable reader blocks no thread |
//! | `environment` | faults of the environment do not end the process |
//! | `addresses` | addresses of writers are computed less often |
//! | `large_packets` | packets to addresses of this host are larger |
//! | `requests` | repeated requests wait while an answer may still arrive |
//! | `pacing` | publishers that send more than a full link carries are slowed down |
//! | `bursts` | bursts that do not fit into small receive buffers are slowed down |
//! | `rate_control` | a best-effort sample of which a full link would carry only a part is not sent |
//! | `early` | samples that arrive before their writer is known are stored for a short time |
//! | `descriptors` | programs that the process starts do not inherit its descriptors |
//! | `keys` | each known endpoint takes less memory |
//! | `leaving` | a participant with many endpoints leaves with one announcement |
//! | `library` | the library of a participant is known, with its version |
//! | `discovery_times` | discovery repeats packets less often than data does |
//! | `discovery_heartbeats` | heartbeats of discovery go only to readers that are behind |
//! | `discovery_history` | the greeting of a reader of discovery is answered with the whole history |
//! | `discovery_answers` | announcements of participants are repeated less often |
//! | `announcements` | a peer that is off does not delay the discovery of others |
//! | `neighbours` | processes of one host learn of each other without the network |
//! | `announcement_rate` | participants that only neighbours know announce themselves less often |
//! | `introductions` | without multicast, a meeting point introduces hosts to each other |
//! | `called_hosts` | nothing goes by multicast to hosts that were called by their addresses |
//! | `received` | what a domain receives from the network is counted |
//! | `no_cxx` | no C++ compiler is required |

use std::path::Path;

/// Later patches change text that earlier patches have added.
const PATCHES: &[&str] = &[
    include_str!("../patches/no_cxx.patch"),
    include_str!("../patches/keys.patch"),
    include_str!("../patches/environment.patch"),
    include_str!("../patches/serdata.patch"),
    include_str!("../patches/fast_dds.patch"),
    include_str!("../patches/discovery.patch"),
    include_str!("../patches/matches.patch"),
    include_str!("../patches/added_functions.patch"),
    include_str!("../patches/full_readers.patch"),
    include_str!("../patches/addresses.patch"),
    include_str!("../patches/large_packets.patch"),
    include_str!("../patches/pacing.patch"),
    include_str!("../patches/requests.patch"),
    include_str!("../patches/bursts.patch"),
    include_str!("../patches/rate_control.patch"),
    include_str!("../patches/descriptors.patch"),
    include_str!("../patches/early.patch"),
    include_str!("../patches/library.patch"),
    include_str!("../patches/leaving.patch"),
    include_str!("../patches/discovery_times.patch"),
    include_str!("../patches/discovery_heartbeats.patch"),
    include_str!("../patches/discovery_history.patch"),
    include_str!("../patches/discovery_answers.patch"),
    include_str!("../patches/announcements.patch"),
    include_str!("../patches/neighbours.patch"),
    include_str!("../patches/announcement_rate.patch"),
    include_str!("../patches/introductions.patch"),
    include_str!("../patches/called_hosts.patch"),
    include_str!("../patches/received.patch"),
];

/// A change of one file: `old` occurs exactly `times` times, and becomes `new`.
pub(crate) struct Change {
    pub(crate) file: &'static str,
    times: usize,
    old: String,
    new: String,
}

/// The changes of all patches, in the order in which they apply.
pub(crate) fn changes() -> Vec<Change> {
    PATCHES.iter().flat_map(|patch| changes_of(patch)).collect()
}

fn changes_of(patch: &'static str) -> Vec<Change> {
    let mut file = "";
    let mut changes: Vec<Change> = Vec::new();
    for line in patch.lines().filter(|line| !line.starts_with('#')) {
        if let Some(path) = line.strip_prefix("=== ") {
            file = path;
        } else if let Some(times) = line.strip_prefix("@@") {
            let times = times.split_whitespace().next().and_then(|number| number.parse().ok());
            let (times, old, new) = (times.unwrap_or(1), String::new(), String::new());
            changes.push(Change { file, times, old, new });
        } else if let Some(change) = changes.last_mut() {
            let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            for (other_sign, side) in [("+", &mut change.old), ("-", &mut change.new)] {
                if sign != other_sign {
                    side.push_str(text);
                    side.push('\n');
                }
            }
        }
    }
    changes
}

/// Applies the changes of `file` to its `content`, and removes them from `changes`.
pub(crate) fn apply(
    changes: &mut Vec<Change>,
    file: &Path,
    content: Vec<u8>,
) -> Result<Vec<u8>, String> {
    let here: Vec<_> = changes.extract_if(.., |change| file == Path::new(change.file)).collect();
    if here.is_empty() {
        return Ok(content);
    }
    let mut text =
        String::from_utf8(content).map_err(|_| format!("{} is not UTF-8", file.display()))?;
    for Change { file, times, old, new } in here {
        let found = text.matches(&old).count();
        if found != times {
            return Err(format!(
                "The Cyclone DDS source differs from the one this crate is written for: in {file} the text\n{old}\n\
                 occurs {found} times instead of {times}.\n\
                 Cure: pin cyclonedds-src to the version in this crate's Cargo.toml, or adapt the folder `patches`."
            ));
        }
        text = text.replace(&old, &new);
    }
    Ok(text.into_bytes())
}
