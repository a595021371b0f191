//! The options of a session, how they are read from the environment, and the errors of opening a
//! session.

use std::ffi::OsString;

use crate::discovery_form::DiscoveryForm;
use crate::engine::meeting_points;
use crate::engine::notify::LOG_TARGET;
use crate::environment_error::EnvironmentError;
use crate::name_prefix::NamePrefix;

/// How far discovery reaches (`ROS_AUTOMATIC_DISCOVERY_RANGE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiscoveryRange {
    /// All hosts that can be reached by multicast.
    #[default]
    Subnet,
    /// Only this host, and the static peers.
    Localhost,
    /// No hosts, whatever the static peers are. The session finds only its own endpoints.
    Off,
    /// The range that the engine's own configuration sets.
    SystemDefault,
}

/// The options for opening a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOptions {
    /// The domain id (`ROS_DOMAIN_ID`). DDS allows 0 to 232.
    pub domain_id: u32,
    /// The security enclave, `/` by default. It is announced to other participants.
    pub enclave: String,
    /// How far discovery reaches.
    pub discovery_range: DiscoveryRange,
    /// Further hosts to discover (`ROS_STATIC_PEERS`). [`SessionOptions::peers`] returns those that
    /// the range permits.
    pub static_peers: Vec<String>,
    /// Hosts at which other hosts meet (`FEROS_MEETING_POINTS`). They are peers too. A session on
    /// such a host makes the hosts that call it known to each other.
    pub meeting_points: Vec<String>,
    /// The form in which the session announces itself (`FEROS_ROS_DISTRO`). The session reads both
    /// forms.
    pub discovery_form: DiscoveryForm,
    /// The session needs to know only the endpoints whose names are below this namespace, and has
    /// no others itself. An engine that can, here Zenoh, then receives no announcements of others:
    /// its graph has only these endpoints, and the nodes of this session. Other engines ignore
    /// this.
    pub graph_below: Option<NamePrefix>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            domain_id: 0,
            enclave: "/".into(),
            discovery_range: DiscoveryRange::default(),
            static_peers: Vec::new(),
            meeting_points: Vec::new(),
            discovery_form: DiscoveryForm::default(),
            graph_below: None,
        }
    }
}

impl SessionOptions {
    /// The options of a session in this domain that finds only sessions of this host.
    pub fn localhost(domain_id: u32) -> Self {
        Self { domain_id, discovery_range: DiscoveryRange::Localhost, ..Self::default() }
    }

    /// The hosts that the session looks for: the static peers and the meeting points. As in stock
    /// ROS 2, the range [`DiscoveryRange::Off`] permits no peers (rcl's discovery_options.c).
    pub fn peers(&self) -> impl Iterator<Item = &str> {
        let is_off = self.discovery_range == DiscoveryRange::Off;
        let named = self.static_peers.iter().chain(&self.meeting_points).filter(move |_| !is_off);
        named.map(String::as_str)
    }

    /// Logs that the range permits no peers, if there are peers.
    pub fn warn_of_ignored_peers(&self) {
        let lists = [
            ("ROS_STATIC_PEERS", &self.static_peers),
            (meeting_points::VARIABLE, &self.meeting_points),
        ];
        let is_off = self.discovery_range == DiscoveryRange::Off;
        for (variable, _) in lists.iter().filter(|(_, hosts)| is_off && !hosts.is_empty()) {
            tracing::warn!(
                target: LOG_TARGET,
                "{variable} is ignored, because ROS_AUTOMATIC_DISCOVERY_RANGE is OFF. For \
                 this machine and the peers: export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"
            );
        }
    }

    /// Reads the options that stock ROS 2 does not have, from `FEROS_MEETING_POINTS` and
    /// `FEROS_ROS_DISTRO`. The others have their defaults. For `variable`, see
    /// [`SessionOptions::from_variables`].
    ///
    /// # Errors
    /// Returns the first variable that has an invalid value.
    pub fn from_own_variables(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, EnvironmentError> {
        let meeting_points = text(&variable, meeting_points::VARIABLE)?;
        Ok(Self {
            meeting_points: meeting_points
                .as_deref()
                .map(meeting_points::hosts)
                .unwrap_or_default(),
            discovery_form: DiscoveryForm::from_variables(&variable)?,
            ..Self::default()
        })
    }

    /// Reads the options from `ROS_DOMAIN_ID`, `ROS_AUTOMATIC_DISCOVERY_RANGE`,
    /// `ROS_STATIC_PEERS`, the older `ROS_LOCALHOST_ONLY`, and
    /// [the variables of Feros](SessionOptions::from_own_variables). `variable` returns the value
    /// of a variable. For the real environment, pass `|name| std::env::var_os(name)`.
    ///
    /// # Errors
    /// Returns the first variable that has an invalid value.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, EnvironmentError> {
        let set = |name: &'static str| text(&variable, name);
        let mut options = Self::from_own_variables(&variable)?;
        if let Some(value) = set("ROS_DOMAIN_ID")? {
            options.domain_id =
                value.trim().parse().ok().filter(|id| *id <= 232).ok_or(EnvironmentError {
                    variable: "ROS_DOMAIN_ID",
                    value,
                    expected: "a number from 0 to 232",
                })?;
        }
        // In stock ROS 2, the older variable has precedence if both variables are set.
        match set("ROS_LOCALHOST_ONLY")?.as_deref() {
            Some("1") => options.discovery_range = DiscoveryRange::Localhost,
            _ => {
                if let Some(value) = set("ROS_AUTOMATIC_DISCOVERY_RANGE")? {
                    options.discovery_range = match value.as_str() {
                        "SUBNET" => DiscoveryRange::Subnet,
                        "LOCALHOST" => DiscoveryRange::Localhost,
                        "OFF" => DiscoveryRange::Off,
                        "SYSTEM_DEFAULT" => DiscoveryRange::SystemDefault,
                        _ => {
                            return Err(EnvironmentError {
                                variable: "ROS_AUTOMATIC_DISCOVERY_RANGE",
                                value,
                                expected: "SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT",
                            });
                        }
                    };
                }
            }
        }
        if let Some(value) = set("ROS_STATIC_PEERS")? {
            options.static_peers = meeting_points::hosts(&value);
        }
        Ok(options)
    }
}

/// The value of a variable that is set and not empty.
fn text(
    variable: impl Fn(&str) -> Option<OsString>,
    name: &'static str,
) -> Result<Option<String>, EnvironmentError> {
    let value = variable(name).filter(|value| !value.is_empty());
    value.map(OsString::into_string).transpose().map_err(|value| EnvironmentError {
        variable: name,
        value: value.to_string_lossy().into_owned(),
        expected: "text in UTF-8",
    })
}

/// The reason why a session could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The domain id is out of range.
    #[error(
        "domain id {domain_id} is not possible with {engine}: set ROS_DOMAIN_ID to a number from 0 \
         to {largest}"
    )]
    DomainId {
        /// The requested domain.
        domain_id: u32,
        /// The largest domain id that the engine supports.
        largest: u32,
        /// The name of the engine.
        engine: &'static str,
    },
    /// No network interface could be used.
    #[error("no network interface can be used: {detail}. {cure}")]
    NoInterface {
        /// The message of the engine.
        detail: String,
        /// How to solve the problem.
        cure: String,
    },
    /// All participant slots of the domain on this host are in use.
    #[error(
        "all {participants} participant slots of domain {domain_id} on this host are in use: stop some processes, or \
         use another ROS_DOMAIN_ID"
    )]
    NoFreePort {
        /// The domain.
        domain_id: u32,
        /// The number of participants that fit into the domain on one host.
        participants: u32,
    },
    /// The operating system does not let this process start enough threads.
    #[error(
        "{engine} needs up to {needed} threads, but the system refuses them ({cause}): end other processes of this \
         user, raise `ulimit -u` (RLIMIT_NPROC), or allow the container or systemd unit more (pids.max, TasksMax=)"
    )]
    Threads {
        /// The name of the engine.
        engine: &'static str,
        /// The number of threads that the engine may need.
        needed: usize,
        /// The error of the operating system.
        cause: String,
    },
    /// The engine is not installed on this system, or its installation is incomplete.
    #[error("the engine {engine} is not installed: {detail}")]
    NotInstalled {
        /// The name of the engine.
        engine: &'static str,
        /// The missing parts, and how to get them.
        detail: String,
    },
    /// Several engines open together, and one of them could not start.
    #[error("{engines} could not start together, because of {engine}: {reason}")]
    OneOfSeveral {
        /// The joint name of the engines.
        engines: &'static str,
        /// The name of the engine that could not start.
        engine: &'static str,
        /// The error of that engine.
        reason: Box<OpenError>,
    },
    /// The configuration was refused.
    #[error("{engine} refuses its configuration: {detail}. Check {source_name}")]
    Configuration {
        /// The name of the engine.
        engine: &'static str,
        /// The source of the configuration, such as `CYCLONEDDS_URI`.
        source_name: String,
        /// The message of the engine.
        detail: String,
    },
    /// The engine failed and reported only a code.
    #[error(
        "{engine} could not open a session in domain {domain_id}: {operation} failed with {code}"
    )]
    Engine {
        /// The name of the engine.
        engine: &'static str,
        /// The domain.
        domain_id: u32,
        /// The operation that failed.
        operation: &'static str,
        /// The engine's description of the failure.
        code: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> Result<SessionOptions, EnvironmentError> {
        SessionOptions::from_variables(|name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn environment_is_read_as_stock_ros_2_reads_it() {
        assert_eq!(options(&[]), Ok(SessionOptions::default()));
        assert_eq!(options(&[("ROS_DOMAIN_ID", "42")]).map(|o| o.domain_id), Ok(42));
        assert_eq!(options(&[("ROS_DOMAIN_ID", "")]).map(|o| o.domain_id), Ok(0));
        let range = |variables: &[(&str, &str)]| options(variables).map(|o| o.discovery_range);
        assert_eq!(range(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")]), Ok(DiscoveryRange::Off));
        assert_eq!(range(&[("ROS_LOCALHOST_ONLY", "1")]), Ok(DiscoveryRange::Localhost));
        assert_eq!(range(&[("ROS_LOCALHOST_ONLY", "0")]), Ok(DiscoveryRange::Subnet));
        assert_eq!(
            options(&[("ROS_STATIC_PEERS", "10.0.0.1; robot ;")]).map(|o| o.static_peers),
            Ok(vec!["10.0.0.1".to_owned(), "robot".to_owned()])
        );
        assert_eq!(
            options(&[("FEROS_MEETING_POINTS", "base; 10.0.0.2")]).map(|o| o.meeting_points),
            Ok(vec!["base".to_owned(), "10.0.0.2".to_owned()])
        );
        assert_eq!(
            options(&[("FEROS_ROS_DISTRO", "humble")]).map(|o| o.discovery_form),
            Ok(DiscoveryForm::Humble)
        );
    }

    #[test]
    #[cfg(unix)]
    fn a_variable_that_is_no_text_is_not_taken_for_unset() {
        use std::os::unix::ffi::OsStringExt as _;
        for name in [
            "ROS_DOMAIN_ID",
            "ROS_AUTOMATIC_DISCOVERY_RANGE",
            "ROS_LOCALHOST_ONLY",
            "ROS_STATIC_PEERS",
            meeting_points::VARIABLE,
        ] {
            let error = SessionOptions::from_variables(|asked| {
                (asked == name).then(|| OsString::from_vec(vec![b'7', 0xff]))
            })
            .expect_err("not UTF-8");
            assert_eq!(
                error.to_string(),
                format!("{name} is \"7\u{fffd}\"; it takes text in UTF-8")
            );
        }
    }

    #[test]
    fn wrong_variables_say_what_is_allowed() {
        let error = options(&[("ROS_DOMAIN_ID", "300")]).expect_err("out of range");
        assert_eq!(error.to_string(), "ROS_DOMAIN_ID is \"300\"; it takes a number from 0 to 232");
        assert!(options(&[("ROS_DOMAIN_ID", "two")]).is_err());
        let error =
            options(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "subnet")]).expect_err("lower case");
        assert!(error.to_string().contains("SUBNET, LOCALHOST"));
        let error = options(&[("FEROS_ROS_DISTRO", "galactic")]).expect_err("too old");
        assert!(error.to_string().contains("it takes humble, iron"), "{error}");
    }
}
