//! All engines of Feros and their properties, including engines that are not compiled in. The crate
//! of each engine reads the properties of the engine here.

use super::front::Kept;

/// The protocol of an engine. Two engines with the same protocol reach the same nodes in a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// DDSI-RTPS, which `rmw_cyclonedds_cpp` and `rmw_fastrtps_cpp` use.
    Dds,
    /// XML-RPC and TCPROS of ROS 1.
    Ros1,
    /// Zenoh, in the wire format of `rmw_zenoh_cpp`.
    Zenoh,
}

/// The properties of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownEngine {
    /// The name by which users choose the engine, and its Cargo feature.
    pub name: &'static str,
    /// The protocol of the engine.
    pub wire: Wire,
    /// The policies that the engine supports.
    pub kept: Kept,
    /// Whether the engine sends the announcements of endpoints to other processes. Without
    /// announcements, other programs cannot tell that two endpoints on two engines belong to the
    /// same publisher.
    pub announces: bool,
    /// The environment variables that configure the engine.
    pub variables: &'static [&'static str],
}

/// Cyclone DDS.
pub const CYCLONEDDS: KnownEngine = KnownEngine {
    name: "cyclonedds",
    wire: Wire::Dds,
    kept: Kept::ALL,
    announces: true,
    variables: &["CYCLONEDDS_URI", "FEROS_NEIGHBOURS"],
};

/// Fast DDS.
pub const FASTDDS: KnownEngine = KnownEngine {
    name: "fastdds",
    wire: Wire::Dds,
    kept: Kept::ALL,
    announces: true,
    variables: &[
        "FASTDDS_DEFAULT_PROFILES_FILE",
        "FASTRTPS_DEFAULT_PROFILES_FILE",
        "RMW_FASTRTPS_USE_QOS_FROM_XML",
        "RMW_FASTRTPS_PUBLICATION_MODE",
    ],
};

/// A ROS 1 master and its nodes.
pub const ROS1: KnownEngine = KnownEngine {
    name: "ros1",
    wire: Wire::Ros1,
    kept: Kept::NOTHING,
    announces: false,
    variables: &["ROS_MASTER_URI", "ROS_HOSTNAME", "ROS_IP"],
};

/// Zenoh.
pub const ZENOH: KnownEngine = KnownEngine {
    name: "zenoh",
    wire: Wire::Zenoh,
    kept: Kept::NOTHING,
    announces: true,
    variables: &[
        "ZENOH_SESSION_CONFIG_URI",
        "ZENOH_CONFIG_OVERRIDE",
        "ZENOH_ROUTER_CHECK_ATTEMPTS",
    ],
};

/// All engines. The default engine is first.
pub const ALL: [KnownEngine; 4] = [CYCLONEDDS, FASTDDS, ROS1, ZENOH];

/// The engine with this name.
pub fn by_name(name: &str) -> Option<KnownEngine> {
    ALL.into_iter().find(|engine| engine.name == name)
}

/// Two engines that a context can use as a pair, in the form in which users name them. Messages
/// show it as an example.
///
/// ```
/// assert_eq!(feros_engine::engine::known::example_pair(), "cyclonedds,zenoh");
/// ```
pub fn example_pair() -> String {
    let mut pairs = ALL.iter().flat_map(|one| ALL.iter().map(move |other| [one, other]));
    let pair = pairs.find(|[one, other]| one.why_no_pair(other).is_none());
    pair.map(|pair| pair.map(|engine| engine.name).join(",")).unwrap_or_default()
}

impl std::fmt::Display for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dds => "DDS",
            Self::Ros1 => "the protocols of ROS 1",
            Self::Zenoh => "Zenoh",
        })
    }
}

impl KnownEngine {
    /// The reason why a context cannot use this engine and another engine as a pair, or `None` if
    /// the context can do so.
    ///
    /// ```
    /// use feros_engine::engine::known::{CYCLONEDDS, FASTDDS, ZENOH};
    /// assert_eq!(CYCLONEDDS.why_no_pair(&ZENOH), None);
    /// assert!(CYCLONEDDS.why_no_pair(&FASTDDS).is_some());
    /// ```
    pub fn why_no_pair(&self, other: &Self) -> Option<String> {
        // Programs use announcements to recognize that two endpoints belong to the same publisher.
        if let Some(silent) = [self, other].into_iter().find(|engine| !engine.announces) {
            return Some(format!(
                "{} announces nothing to other processes, so two programs that use both engines \
                 would get each message twice. Choose one of them{}",
                silent.name,
                match silent.wire {
                    Wire::Ros1 => "; `feros ros1 bridge` connects ROS 1 with the others",
                    _ => "",
                }
            ));
        }
        (self.wire == other.wire).then(|| {
            format!(
                "both speak {}, so in one domain each node would find each endpoint twice. Servers \
                 would get each request twice, and latched messages would come twice. Choose one \
                 of them; each engine reaches all nodes of that protocol",
                self.wire
            )
        })
    }
}
