//! Zenoh's configuration: the defaults of `rmw_zenoh`, and the variables that change them
//! (`ros2/rmw_zenoh:rmw_zenoh_cpp/config/`, `README.md` "Configuration").

use feros_engine::engine::meeting_points;
use zenoh::Config;

/// The settings that have the same value in the files of `rmw_zenoh` for sessions and for routers,
/// and that differ from Zenoh's defaults. `routing/router/peers_failover_brokering` is omitted
/// because it no longer has an effect.
const BOTH: &[(&str, &str)] = &[
    ("connect/timeout_ms", "{ router: -1, peer: -1, client: 0 }"),
    ("connect/exit_on_failure", "{ router: false, peer: false, client: true }"),
    // rmw_zenoh waits 1, 2 and then 4 seconds before it tries again. Feros waits for a shorter
    // time, because a refused attempt costs little.
    ("connect/retry", "{ period_init_ms: 250, period_max_ms: 250, period_increase_factor: 1 }"),
    ("open/return_conditions", "{ connect_scouted: true, declares: true }"),
    ("scouting/multicast/enabled", "false"),
    (
        "scouting/multicast/autoconnect",
        r#"{ router: [], peer: ["router", "peer"], client: ["router"] }"#,
    ),
    ("scouting/gossip/enabled", "true"),
    // Peers learn of each other only through the router.
    ("scouting/gossip/target", r#"{ router: ["router", "peer"], peer: ["router"] }"#),
    ("scouting/gossip/autoconnect", r#"{ router: [], peer: ["router", "peer"] }"#),
    // The caches of transient-local publishers order messages by their timestamps.
    ("timestamping/enabled", "{ router: true, peer: true, client: true }"),
    ("queries_default_timeout", "600000"),
    // The timeouts are long because all nodes are slow when many of them start at the same time.
    ("transport/unicast/open_timeout", "60000"),
    ("transport/unicast/accept_timeout", "60000"),
    ("transport/unicast/accept_pending", "10000"),
    ("transport/unicast/max_sessions", "10000"),
    ("transport/link/tx/lease", "60000"),
    ("transport/link/tx/keep_alive", "2"),
    // This is meant for programs that build Zenoh with its shared memory, which Feros does not.
    ("transport/shared_memory/enabled", "false"),
    ("transport/shared_memory/transport_optimization/enabled", "true"),
    ("transport/shared_memory/transport_optimization/pool_size", "50331648"),
    ("transport/shared_memory/transport_optimization/message_size_threshold", "512"),
    ("adminspace/enabled", "true"),
];

const SESSION: &[(&str, &str)] = &[
    ("mode", r#""peer""#),
    ("connect/endpoints", r#"["tcp/localhost:7447"]"#),
    ("listen/endpoints", r#"["tcp/localhost:0"]"#),
    (
        "scouting/multicast/autoconnect_strategy",
        r#"{ peer: { to_router: "always", to_peer: "greater-zid" } }"#,
    ),
    (
        "scouting/gossip/autoconnect_strategy",
        r#"{ peer: { to_router: "always", to_peer: "greater-zid" } }"#,
    ),
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000"),
];

/// The settings of a session that knows only a part of the graph. A router sends a client only the
/// tokens for which the client asks, but it sends all tokens to a peer.
const PART_OF_GRAPH: &[(&str, &str)] = &[("mode", r#""client""#), ("listen/endpoints", "[]")];

const ROUTER: &[(&str, &str)] = &[
    ("mode", r#""router""#),
    ("listen/endpoints", r#"["tcp/[::]:7447"]"#),
    (
        "scouting/multicast/autoconnect_strategy",
        r#"{ router: { to_router: "always", to_peer: "always" } }"#,
    ),
    (
        "scouting/gossip/autoconnect_strategy",
        r#"{ router: { to_router: "always", to_peer: "always" } }"#,
    ),
    // A router also sends to other hosts, so it must not wait for a slow link for a whole minute.
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "5000000"),
];

/// The port at which routers listen by default.
const ROUTER_PORT: u16 = 7447;

/// The settings with names of files that Zenoh reads when it connects. They are checked in advance,
/// because Zenoh's errors do not name an unreadable file.
const TLS_FILES: [&str; 5] = [
    "root_ca_certificate",
    "listen_private_key",
    "listen_certificate",
    "connect_private_key",
    "connect_certificate",
];

/// The values of `rmw_zenoh`'s environment variables and of Feros's own. They are `None` for
/// variables that are not set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    /// `ZENOH_SESSION_CONFIG_URI`, the path of a file that replaces the defaults of a session.
    pub(crate) session_config: Option<String>,
    /// `ZENOH_ROUTER_CONFIG_URI`, the path of a file that replaces the defaults of a router.
    pub(crate) router_config: Option<String>,
    /// `ZENOH_CONFIG_OVERRIDE`, which contains `key/path=value` pairs, separated by `;`.
    pub(crate) config_override: Option<String>,
    /// `ZENOH_ROUTER_CHECK_ATTEMPTS`.
    pub(crate) router_check_attempts: Option<String>,
    /// `FEROS_MEETING_POINTS`, the hosts to whose routers a router connects.
    pub(crate) meeting_points: Option<String>,
}

/// The reason why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration of {source_name} cannot be used: {detail}")]
pub struct ConfigError {
    /// The source of the configuration, such as a variable.
    pub(crate) source_name: String,
    /// The error in the configuration.
    pub(crate) detail: String,
}

impl Variables {
    pub(crate) fn of_process() -> Self {
        let set = |name| {
            let value = std::env::var_os(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some(value)
        };
        Self {
            session_config: set("ZENOH_SESSION_CONFIG_URI"),
            router_config: set("ZENOH_ROUTER_CONFIG_URI"),
            config_override: set("ZENOH_CONFIG_OVERRIDE"),
            router_check_attempts: set("ZENOH_ROUTER_CHECK_ATTEMPTS"),
            meeting_points: set(meeting_points::VARIABLE),
        }
    }

    /// Returns the configuration of a session.
    pub(crate) fn session(&self) -> Result<Config, ConfigError> {
        self.config(self.session_config.as_deref(), "ZENOH_SESSION_CONFIG_URI", [SESSION, &[]])
    }

    /// Returns the configuration of a session that knows only a part of the graph.
    pub(crate) fn session_of_part(&self) -> Result<Config, ConfigError> {
        let own = [SESSION, PART_OF_GRAPH];
        self.config(self.session_config.as_deref(), "ZENOH_SESSION_CONFIG_URI", own)
    }

    /// Returns the configuration of a router.
    pub(crate) fn router(&self) -> Result<Config, ConfigError> {
        let points = meeting_points::hosts(self.meeting_points.as_deref().unwrap_or_default());
        let others = points.iter().filter(|point| !meeting_points::is_this_host(point));
        let endpoints: Vec<_> = others.map(|point| format!("tcp/{point}:{ROUTER_PORT}")).collect();
        let endpoints = format!("{endpoints:?}");
        let joined = [("connect/endpoints", endpoints.as_str())];
        self.config(self.router_config.as_deref(), "ZENOH_ROUTER_CONFIG_URI", [ROUTER, &joined])
    }

    fn config(
        &self,
        file: Option<&str>,
        variable: &str,
        own: [&[(&str, &str)]; 2],
    ) -> Result<Config, ConfigError> {
        let mut config = match file {
            Some(file) => Config::from_file(file).map_err(|error| ConfigError {
                source_name: variable.to_owned(),
                detail: format!("{file}: {error}"),
            })?,
            None => {
                let mut config = Config::default();
                for (key, value) in BOTH.iter().chain(own.into_iter().flatten()) {
                    insert(&mut config, key, value, "Feros's defaults")?;
                }
                config
            }
        };
        for pair in self.config_override.iter().flat_map(|text| pairs(text)) {
            let (key, value) = pair.split_once('=').ok_or_else(|| ConfigError {
                source_name: "ZENOH_CONFIG_OVERRIDE".into(),
                detail: format!("{pair:?} is not key/path=value"),
            })?;
            insert(&mut config, key.trim(), value.trim(), "ZENOH_CONFIG_OVERRIDE")?;
        }
        check_tls_files(&config)?;
        Ok(config)
    }

    /// How many times a session looks for a router before it continues without a router. `None`
    /// means that it waits without a limit, and 0 means that it does not look for a router.
    pub(crate) fn router_checks(&self) -> Result<Option<u64>, ConfigError> {
        let Some(text) = &self.router_check_attempts else { return Ok(Some(1)) };
        let attempts: i64 = text.trim().parse().map_err(|_| ConfigError {
            source_name: "ZENOH_ROUTER_CHECK_ATTEMPTS".into(),
            detail: format!("{text:?} is not a whole number"),
        })?;
        Ok(if attempts == 0 { None } else { Some(u64::try_from(attempts).unwrap_or(0)) })
    }
}

/// Splits the text at `;`, except within quotes and brackets.
fn pairs(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quote) = (Vec::new(), 0_usize, 0_usize, None);
    for (at, character) in text.char_indices() {
        match (character, quote) {
            (character, Some(open)) if character == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(character),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (';', None) if depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn check_tls_files(config: &Config) -> Result<(), ConfigError> {
    for name in TLS_FILES {
        let source_name = format!("transport/link/tls/{name}");
        let Ok(value) = config.get_json(&source_name) else { continue };
        let Some(path) = value.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
            continue;
        };
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => {
                return Err(ConfigError { source_name, detail: format!("{path} is not a file") });
            }
            Err(error) => {
                return Err(ConfigError { source_name, detail: format!("{path}: {error}") });
            }
        }
    }
    Ok(())
}

/// How to solve the problem of a missing router: how to start a router, or how to name its address.
pub(crate) fn cure_of_no_router(config: &Config) -> String {
    format!(
        "start one with `feros zenoh router`, or name its address in \
         ZENOH_CONFIG_OVERRIDE='connect/endpoints=[...]'{}",
        advice(config)
    )
}

/// How to solve the problem of a client session that cannot be opened because it needs a router.
/// Zenoh's error does not tell this.
pub(crate) fn cure_of_refusal(config: &Config) -> String {
    if !is_client(config) {
        return advice(config).to_owned();
    }
    let endpoints = endpoints(config);
    format!(" No Zenoh router answers at {endpoints}: {}", cure_of_no_router(config))
}

/// Whether the session communicates only through a router, so that it cannot be opened without one.
pub(crate) fn is_client(config: &Config) -> bool {
    config.get_json("mode").is_ok_and(|mode| mode == r#""client""#)
}

/// The addresses at which the session looks for routers.
pub(crate) fn endpoints(config: &Config) -> String {
    config.get_json("connect/endpoints").unwrap_or_default()
}

/// The possible reasons why a link failed, which Zenoh's error does not tell. The text is empty if
/// the configuration has no encrypted links.
fn advice(config: &Config) -> &'static str {
    if !endpoints(config).contains("\"tls/") {
        return "";
    }
    ". With TLS, the other side's certificate must be signed by transport/link/tls/root_ca_certificate and must name \
     the host in its address; if the other side requires one (enable_mtls), connect_certificate and \
     connect_private_key are needed on this side"
}

/// The possible reasons why a router cannot listen, which Zenoh's error does not tell either.
pub(crate) fn advice_to_listen(config: &Config) -> &'static str {
    if !config.get_json("listen/endpoints").unwrap_or_default().contains("\"tls/") {
        return "";
    }
    ". With TLS, transport/link/tls/listen_private_key and listen_certificate must be a key and its certificate, \
     each a PEM file"
}

/// Sets a value that comes `from` a source, which the error names.
pub(crate) fn insert(
    config: &mut Config,
    key: &str,
    value: &str,
    from: &str,
) -> Result<(), ConfigError> {
    config.insert_json5(key, value).map_err(|error| ConfigError {
        source_name: from.to_owned(),
        detail: format!("{key}={value}: {error}"),
    })
}

/// The parts of a configuration that are relevant for users, as JSON.
pub(crate) fn describe(config: &Config) -> String {
    let keys = ["mode", "connect", "listen", "scouting", "timestamping", "routing"];
    let parts = keys.map(|key| {
        format!("\"{key}\": {}", config.get_json(key).unwrap_or_else(|_| "null".into()))
    });
    format!("{{{}}}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// All settings that the files of `rmw_zenoh` mark as `ROS setting`, each with its key, its
    /// value for sessions, and its value for routers
    /// (`ros2/rmw_zenoh:rmw_zenoh_cpp/config/DEFAULT_RMW_ZENOH_*_CONFIG.json5`).
    const ROS_SETTINGS: &[(&str, &str, &str)] = &[
        ("connect/endpoints", r#"["tcp/localhost:7447"]"#, "[]"),
        ("listen/endpoints", r#"["tcp/localhost:0"]"#, r#"["tcp/[::]:7447"]"#),
        ("scouting/multicast/enabled", "false", "false"),
        (
            "scouting/multicast/autoconnect_strategy",
            r#"{"peer": {"to_router": "always", "to_peer": "greater-zid"}}"#,
            r#"{"router": {"to_router": "always", "to_peer": "always"}}"#,
        ),
        (
            "scouting/gossip/target",
            r#"{"router": ["router", "peer"], "peer": ["router"]}"#,
            r#"{"router": ["router", "peer"], "peer": ["router"]}"#,
        ),
        (
            "scouting/gossip/autoconnect_strategy",
            r#"{"peer": {"to_router": "always", "to_peer": "greater-zid"}}"#,
            r#"{"router": {"to_router": "always", "to_peer": "always"}}"#,
        ),
        (
            "timestamping/enabled",
            r#"{"router": true, "peer": true, "client": true}"#,
            r#"{"router": true, "peer": true, "client": true}"#,
        ),
        ("queries_default_timeout", "600000", "600000"),
        ("transport/unicast/open_timeout", "60000", "60000"),
        ("transport/unicast/accept_timeout", "60000", "60000"),
        ("transport/unicast/accept_pending", "10000", "10000"),
        ("transport/unicast/max_sessions", "10000", "10000"),
        ("transport/link/tx/lease", "60000", "60000"),
        ("transport/link/tx/keep_alive", "2", "2"),
        (
            "transport/link/tx/queue/congestion_control/block/wait_before_close",
            "60000000",
            "5000000",
        ),
        ("transport/shared_memory/enabled", "false", "false"),
        ("transport/shared_memory/transport_optimization/enabled", "true", "true"),
        ("transport/shared_memory/transport_optimization/pool_size", "50331648", "50331648"),
        ("transport/shared_memory/transport_optimization/message_size_threshold", "512", "512"),
    ];

    /// Settings that are not marked in this way, but that differ from Zenoh's defaults or determine
    /// how long a session waits.
    const UNMARKED: &[(&str, &str, &str)] = &[
        ("mode", r#""peer""#, r#""router""#),
        (
            "connect/timeout_ms",
            r#"{"router": -1, "peer": -1, "client": 0}"#,
            r#"{"router": -1, "peer": -1, "client": 0}"#,
        ),
        (
            "connect/exit_on_failure",
            r#"{"router": false, "peer": false, "client": true}"#,
            r#"{"router": false, "peer": false, "client": true}"#,
        ),
        (
            "open/return_conditions",
            r#"{"connect_scouted": true, "declares": true}"#,
            r#"{"connect_scouted": true, "declares": true}"#,
        ),
        ("scouting/gossip/enabled", "true", "true"),
        (
            "scouting/gossip/autoconnect",
            r#"{"router": [], "peer": ["router", "peer"]}"#,
            r#"{"router": [], "peer": ["router", "peer"]}"#,
        ),
        (
            "scouting/multicast/autoconnect",
            r#"{"router": [], "peer": ["router", "peer"], "client": ["router"]}"#,
            r#"{"router": [], "peer": ["router", "peer"], "client": ["router"]}"#,
        ),
        ("adminspace/enabled", "true", "true"),
    ];

    /// Parses a value and removes the null fields, which Zenoh adds to values that depend on the
    /// mode.
    fn value_of(json: &str) -> serde_json::Value {
        fn without_null(value: serde_json::Value) -> serde_json::Value {
            let serde_json::Value::Object(fields) = value else { return value };
            let set = fields.into_iter().filter(|(_, value)| !value.is_null());
            set.map(|(name, value)| (name, without_null(value))).collect()
        }
        without_null(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_defaults_are_those_of_rmw_zenoh() {
        let variables = Variables::default();
        let (session, router) = (variables.session().unwrap(), variables.router().unwrap());
        for (key, of_session, of_router) in ROS_SETTINGS.iter().chain(UNMARKED) {
            for (config, expected) in [(&session, of_session), (&router, of_router)] {
                let found = value_of(&config.get_json(key).unwrap());
                assert_eq!(found, value_of(expected), "{key}");
            }
        }
    }

    /// A configuration file also overrides the retry intervals, which by default are shorter in
    /// Feros than in `rmw_zenoh`.
    #[test]
    fn a_file_says_how_soon_to_try_again() {
        let retry = |config: &Config| value_of(&config.get_json("connect/retry").unwrap());
        let of_feros =
            r#"{"period_init_ms": 250, "period_max_ms": 250, "period_increase_factor": 1.0}"#;
        let path = std::env::temp_dir().join(format!("feros-zenoh-{}.json5", std::process::id()));
        std::fs::write(&path, "{ connect: { retry: { period_init_ms: 3000 } } }").unwrap();
        let file = Some(path.to_string_lossy().into_owned());
        let variables = Variables {
            session_config: file.clone(),
            router_config: file,
            config_override: None,
            ..Variables::default()
        };
        for (own, of_file) in [
            (Variables::default().session().unwrap(), variables.session().unwrap()),
            (Variables::default().router().unwrap(), variables.router().unwrap()),
        ] {
            assert_eq!(retry(&own), value_of(of_feros));
            assert_eq!(retry(&of_file), value_of(r#"{"period_init_ms": 3000}"#));
        }
        std::fs::remove_file(&path).unwrap();
    }

    /// Zenoh accepts this setting of `rmw_zenoh`'s routers, but ignores it with a warning.
    #[test]
    fn brokering_is_left_out_as_zenoh_ignores_it() {
        let router = Variables::default().router().unwrap();
        assert_eq!(router.get_json("routing/router/peers_failover_brokering").unwrap(), "null");
    }

    #[test]
    fn overrides_are_read_as_rmw_zenoh_reads_them() {
        let variables = Variables {
            config_override: Some(
                r#"listen/endpoints=["tcp/127.0.0.1:7448;x"]; mode="client";scouting/multicast/enabled=true;"#
                    .into(),
            ),
            ..Variables::default()
        };
        let config = variables.session().unwrap();
        assert_eq!(config.get_json("mode").unwrap(), r#""client""#);
        assert_eq!(config.get_json("scouting/multicast/enabled").unwrap(), "true");
    }

    #[test]
    fn routers_connect_to_those_of_the_meeting_points_on_other_hosts() {
        let meeting_points = Some("127.0.0.1; 203.0.113.1;203.0.113.2".to_owned());
        let variables = Variables { meeting_points, ..Variables::default() };
        let of = |config: &Config| value_of(&config.get_json("connect/endpoints").unwrap());
        let expected = r#"["tcp/203.0.113.1:7447", "tcp/203.0.113.2:7447"]"#;
        assert_eq!(of(&variables.router().unwrap()), value_of(expected));
        assert_eq!(of(&variables.session().unwrap()), value_of(r#"["tcp/localhost:7447"]"#));
    }

    #[test]
    fn a_session_that_knows_a_part_of_the_graph_is_a_client_unless_told_otherwise() {
        let with = |text: &str| Variables {
            config_override: Some(text.to_owned()),
            ..Variables::default()
        };
        let mode = |config: &Config| config.get_json("mode").unwrap();
        let part = with("").session_of_part().unwrap();
        assert_eq!(mode(&part), r#""client""#);
        assert_eq!(part.get_json("listen/endpoints").unwrap(), "[]");
        assert_eq!(mode(&with("").session().unwrap()), r#""peer""#);
        assert_eq!(mode(&with("mode=\"peer\"").session_of_part().unwrap()), r#""peer""#);
    }

    #[test]
    fn errors_name_the_unusable_setting() {
        let with = |text: &str| {
            let config_override = Some(text.to_owned());
            Variables { config_override, ..Variables::default() }.session().unwrap_err().to_string()
        };
        for (text, says) in [("mode", "\"mode\""), ("mode=5", "mode=5"), ("no/such=1", "no/such")] {
            let error = with(text);
            assert!(error.contains("ZENOH_CONFIG_OVERRIDE") && error.contains(says), "{error}");
        }
        let session_config = Some("/no/such/file.json5".to_owned());
        let error = Variables { session_config, ..Variables::default() }.session().unwrap_err();
        assert!(error.to_string().contains("/no/such/file.json5"), "{error}");
        let checks = |text: &str| {
            let router_check_attempts = Some(text.to_owned());
            Variables { router_check_attempts, ..Variables::default() }.router_checks()
        };
        assert_eq!((checks("0"), checks("-1"), checks("3")), (Ok(None), Ok(Some(0)), Ok(Some(3))));
        assert!(checks("many").is_err());
        assert_eq!(Variables::default().router_checks(), Ok(Some(1)));
    }
}
