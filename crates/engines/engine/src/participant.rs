//! The facts about the software of a participant that its announcements show.

use crate::dds::library::Library;
use crate::discovery_form::DiscoveryForm;
use crate::gid::Gid;

/// A participant that the engine has discovered, with what its announcements show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantInfo {
    /// The identity.
    pub gid: Gid,
    /// The form of its announcements of nodes, or `None` if it has announced no nodes.
    pub form: Option<DiscoveryForm>,
    /// Its DDS library, or `None` on engines without DDS.
    pub library: Option<Library>,
    /// Whether the participant says that it runs Feros.
    pub is_feros: bool,
    /// Whether this process has learned of the participant in shared memory, and not by the
    /// network. False for participants of this process.
    pub is_neighbour: bool,
    /// Whether an endpoint of the participant announces the hash of its type, as endpoints of ROS 2
    /// do since Iron.
    pub has_type_hashes: bool,
    /// Whether an endpoint of the participant announces buffer backends, as endpoints of ROS 2 do
    /// since Lyrical.
    pub has_buffer_backends: bool,
}

impl ParticipantInfo {
    /// A participant about which nothing is known.
    pub fn new(gid: Gid) -> Self {
        Self {
            gid,
            form: None,
            library: None,
            is_feros: false,
            is_neighbour: false,
            has_type_hashes: false,
            has_buffer_backends: false,
        }
    }
}
