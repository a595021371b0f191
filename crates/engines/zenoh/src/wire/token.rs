//! Liveliness tokens of nodes and endpoints, from which each session learns the ROS graph
//! (`ros2/rmw_zenoh:docs/design.md`, "Graph Cache"; `liveliness_utils.cpp`).

use std::fmt::Display;
use std::sync::Arc;

use feros_engine::dds::names;
use feros_engine::{BufferBackend, EndpointKind, Gid, NamePrefix, NodeName, QosProfile, TypeHash};

use super::announcement::FIRST_ENTITY;
use super::chunk::{chunk_below, demangle, mangle};
use super::{percent, qos};

/// The first chunk of all tokens.
pub const SPACE: &str = "@ros2_lv";

/// This is written instead of the hash if a type has no hash, as in ROS 2 Humble.
pub const NO_HASH: &str = "TypeHashNotSupported";

/// This begins the chunk with the buffer backends, which tokens of ROS 2 Lyrical may have after the
/// policies (`rmw_zenoh_cpp` 0.10.5 and newer).
const BUFFER_BACKENDS: &str = "backends:";

/// The number of chunks before the type's hash.
const CHUNKS_BEFORE_HASH: usize = 11;

/// The number of chunks between the domain and the name of a topic or service: the session, the
/// node, the endpoint, its kind, the enclave, the namespace, and the name of the node.
const CHUNKS_BETWEEN_DOMAIN_AND_NAME: usize = 7;

/// The limit on the length of tokens that are read, in bytes. ROS names have at most 255 bytes.
pub const LONGEST_BYTES: usize = 4096;

/// The part of a token that describes a node, or the node of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeToken {
    /// The domain of the session.
    pub domain_id: u32,
    /// The identity of the session.
    pub zid: String,
    /// The number of the node in its session.
    pub node: u64,
    /// The security enclave.
    pub enclave: String,
    /// The namespace and the name.
    pub name: NodeName,
}

/// The content of an endpoint's token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointToken {
    /// The node of the endpoint.
    pub node: NodeToken,
    /// The number of the endpoint in its session.
    pub entity: u64,
    /// The kind of the endpoint.
    pub kind: EndpointKind,
    /// The topic or service, with a leading slash if the name follows the ROS conventions.
    pub name: String,
    /// The type in the wire format: `std_msgs::msg::dds_::String_`.
    pub wire_type: String,
    /// The hash of the type, or of the service type, or `None` if it is unknown.
    pub type_hash: Option<TypeHash>,
    /// The policies.
    pub qos: QosProfile,
    /// The buffer backends, which endpoints of Feros do not announce.
    pub buffer_backends: Option<Arc<[BufferBackend]>>,
}

/// A liveliness token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// The token of a node.
    Node(NodeToken),
    /// The token of an endpoint.
    Endpoint(Box<EndpointToken>),
}

/// Returns the gid that an endpoint has in all sessions: the XXH3-128 hash of its token in
/// little-endian order.
pub fn gid(token: &str) -> Gid {
    Gid(twox_hash::XxHash3_128::oneshot(token.as_bytes()).to_le_bytes())
}

/// Whether a token has the word for a type without a hash, as the tokens of ROS 2 Humble have.
pub fn names_no_hash(token: &str) -> bool {
    token.split('/').nth(CHUNKS_BEFORE_HASH) == Some(NO_HASH)
}

/// The key expression of all tokens of a domain, which may be `*`, or only of those of endpoints
/// whose names are below a namespace.
pub fn all(domain: impl Display, below: Option<&NamePrefix>) -> String {
    match below {
        None => format!("{SPACE}/{domain}/**"),
        Some(below) => {
            let before_name = "*/".repeat(CHUNKS_BETWEEN_DOMAIN_AND_NAME);
            format!("{SPACE}/{domain}/{before_name}{}/**", chunk_below(below))
        }
    }
}

/// The key expression of the tokens of all nodes in a namespace, without those below it.
pub fn nodes_in(namespace: &NamePrefix) -> String {
    let before_namespace = "*/".repeat(CHUNKS_BETWEEN_DOMAIN_AND_NAME - 2);
    format!("{SPACE}/*/{before_namespace}{}/*", mangle(namespace.namespace()))
}

fn kind_text(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::Publisher => "MP",
        EndpointKind::Subscription => "MS",
        EndpointKind::Service => "SS",
        EndpointKind::Client => "SC",
    }
}

impl NodeToken {
    fn ends(&self) -> (String, String) {
        let Self { domain_id, zid, node, enclave, name } = self;
        let (enclave, namespace) = (mangle(enclave), mangle(name.namespace()));
        (
            format!("{SPACE}/{domain_id}/{zid}/{node}"),
            format!("{enclave}/{namespace}/{}", mangle(name.name())),
        )
    }

    /// Returns the key expression of the token.
    pub fn encode(&self) -> String {
        let (begin, end) = self.ends();
        format!("{begin}/{}/NN/{end}", self.node)
    }
}

impl EndpointToken {
    /// Returns the key expression of the token.
    pub fn encode(&self) -> String {
        let (begin, end) = self.node.ends();
        format!(
            "{begin}/{}/{}/{end}/{}/{}/{}/{}{}",
            self.entity,
            kind_text(self.kind),
            mangle(&self.name),
            self.wire_type,
            hash_text(self.type_hash),
            qos::encode(&self.qos),
            self.buffer_backends.as_deref().map(backends_text).unwrap_or_default()
        )
    }

    /// Returns the key expression for the endpoint's messages, requests and responses. For a
    /// subscription or client of Feros without a type hash, the key expression matches any hash.
    pub fn data_key(&self) -> String {
        let hash = match self.type_hash {
            None if self.takes_any_hash() => "*".into(),
            hash => hash_text(hash),
        };
        let name = self.name.trim_matches('/');
        format!("{}/{name}/{}/{hash}", self.node.domain_id, self.wire_type)
    }

    /// Whether the endpoint gets messages or responses of any hash, because it has no hash itself.
    /// Only endpoints of Feros do: those of `rmw_zenoh_cpp` of Humble use the key with the word for
    /// a missing hash.
    pub fn takes_any_hash(&self) -> bool {
        let receives = matches!(self.kind, EndpointKind::Subscription | EndpointKind::Client);
        receives && self.type_hash.is_none() && self.entity >= FIRST_ENTITY
    }

    /// Whether messages pass between two endpoints. Their names, types and hashes must be equal,
    /// but a subscription or client [may take any hash](Self::takes_any_hash). Policies are
    /// ignored.
    pub fn matches(&self, other: &Self) -> bool {
        self.has_name_of(other)
            && self.wire_type == other.wire_type
            && (self.type_hash == other.type_hash
                || self.takes_any_hash()
                || other.takes_any_hash())
    }

    /// Whether two endpoints have opposite kinds and the same topic or service name.
    pub fn has_name_of(&self, other: &Self) -> bool {
        other.kind == opposite(self.kind) && self.name == other.name
    }
}

/// The kind of endpoint on the other side.
pub fn opposite(kind: EndpointKind) -> EndpointKind {
    match kind {
        EndpointKind::Publisher => EndpointKind::Subscription,
        EndpointKind::Subscription => EndpointKind::Publisher,
        EndpointKind::Service => EndpointKind::Client,
        EndpointKind::Client => EndpointKind::Service,
    }
}

fn hash_text(hash: Option<TypeHash>) -> String {
    hash.map_or_else(|| NO_HASH.to_owned(), |hash| hash.to_string())
}

/// The chunk with the buffer backends, and the slash before it. Data may contain a colon, because
/// only the first colon of an entry divides it.
fn backends_text(backends: &[BufferBackend]) -> String {
    let entry = |of: &BufferBackend| {
        let name = percent::escape(&of.name, "%;:/");
        format!("{name}:{}", percent::escape(&of.data, "%;/"))
    };
    let entries: Vec<_> = backends.iter().map(entry).collect();
    format!("/{BUFFER_BACKENDS}{}", entries.join(";"))
}

impl Token {
    /// Reads a token. Unknown chunks at the end are ignored, because newer versions may add chunks.
    /// Returns `None` if the key is not a token.
    pub fn decode(key: &str) -> Option<Self> {
        if key.len() > LONGEST_BYTES {
            return None;
        }
        let mut chunks = key.split('/');
        let mut next = || chunks.next().filter(|chunk| !chunk.is_empty());
        if next()? != SPACE {
            return None;
        }
        let domain_id = next()?.parse().ok()?;
        let zid = next()?;
        let is_zid = zid.len() <= 32 && zid.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (node, entity) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let kind = match next()? {
            "NN" => None,
            "MP" => Some(EndpointKind::Publisher),
            "MS" => Some(EndpointKind::Subscription),
            "SS" => Some(EndpointKind::Service),
            "SC" => Some(EndpointKind::Client),
            _ => return None,
        };
        let enclave = demangle(next()?);
        let namespace = demangle(next()?);
        let name = NodeName::announced(&namespace, &demangle(next()?));
        let node =
            is_zid.then(|| NodeToken { domain_id, zid: zid.to_owned(), node, enclave, name })?;
        let Some(kind) = kind else { return Some(Self::Node(node)) };
        let name = demangle(next()?);
        let wire_type = next()?.to_owned();
        let type_hash = TypeHash::parse(next()?);
        let qos = qos::decode(next()?)?;
        let backends = chunks.find_map(|chunk| chunk.strip_prefix(BUFFER_BACKENDS));
        let buffer_backends =
            backends.and_then(|list| BufferBackend::read(list.split(';'), percent::decode));
        let endpoint =
            EndpointToken { node, entity, kind, name, wire_type, type_hash, qos, buffer_backends };
        Some(Self::Endpoint(Box::new(endpoint)))
    }
}

/// Converts a wire type to `package/msg/Name`. A name that does not follow the ROS conventions is
/// returned unchanged.
pub fn ros_type(wire_type: &str) -> String {
    names::demangle_type(wire_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

    /// Tokens from `ros2/rmw_zenoh:docs/design.md`.
    fn stock() -> Vec<String> {
        let zid = "aac3178e146ba6f1fc6e6a4085e77f21";
        let chatter = format!("%chatter/std_msgs::msg::dds_::String_/{HASH}");
        vec![
            format!("@ros2_lv/0/{zid}/0/0/NN/%/%/listener"),
            format!("@ros2_lv/0/{zid}/0/10/MS/%/%/listener/{chatter}/::,10:,:,:,,"),
            format!("@ros2_lv/0/{zid}/0/10/MP/%/%robot/talker/{chatter}/::,7:,:,:,,"),
            format!(
                "@ros2_lv/2/{zid}/0/10/SS/%/%/add_two_ints_server/%add_two_ints/\
                 example_interfaces::srv::dds_::AddTwoInts_/{HASH}/::,10:,:,:,,"
            ),
        ]
    }

    #[test]
    fn tokens_of_stock_peers_are_read_and_written_alike() {
        for key in stock() {
            let text = match Token::decode(&key).expect("a token") {
                Token::Node(node) => node.encode(),
                Token::Endpoint(endpoint) => endpoint.encode(),
            };
            assert_eq!(text, key);
        }
        let Some(Token::Endpoint(publisher)) = Token::decode(&stock()[2]) else {
            panic!("a publisher")
        };
        assert_eq!((publisher.name.as_str(), publisher.qos.depth), ("/chatter", 7));
        assert_eq!(publisher.node.name.fully_qualified(), "/robot/talker");
        assert_eq!(ros_type(&publisher.wire_type), "std_msgs/msg/String");
        let key = format!("0/chatter/std_msgs::msg::dds_::String_/{HASH}");
        assert_eq!(publisher.data_key(), key);
        let Some(Token::Endpoint(subscription)) = Token::decode(&stock()[1]) else {
            panic!("a subscription")
        };
        assert!(publisher.matches(&subscription) && !publisher.matches(&publisher));
    }

    fn endpoint(key: &str) -> EndpointToken {
        match Token::decode(key) {
            Some(Token::Endpoint(endpoint)) => *endpoint,
            other => panic!("{key} is not the token of an endpoint: {other:?}"),
        }
    }

    fn backends(of: &EndpointToken) -> Vec<String> {
        of.buffer_backends.iter().flat_map(|all| all.iter()).map(ToString::to_string).collect()
    }

    /// The form of `rmw_zenoh_cpp` 0.10.5 in ROS 2 Lyrical, from `liveliness_utils.cpp`.
    #[test]
    fn tokens_of_lyrical_are_read_and_written_alike() {
        for (chunk, expected) in [
            ("backends:cpu:", &["cpu"][..]),
            ("backends:cpu:;cuda:device=0", &["cpu", "cuda(device=0)"]),
            ("backends:a%2Fb%3A%3B%25:x%2F%25;cpu:", &["a/b:;%(x/%)", "cpu"]),
        ] {
            let key = format!("{}/{chunk}", stock()[1]);
            let token = endpoint(&key);
            assert_eq!(backends(&token), expected, "{chunk}");
            assert_eq!(token.encode(), key);
            assert_eq!(EndpointToken { buffer_backends: None, ..token }, endpoint(&stock()[1]));
            assert_ne!(gid(&key), gid(&stock()[1]), "the gid is that of the whole text");
        }
        let raw_colon = endpoint(&format!("{}/backends:cuda:a:b", stock()[1]));
        assert_eq!(backends(&raw_colon), ["cuda(a:b)"]);
    }

    #[test]
    fn additions_of_other_versions_hide_nothing() {
        for unknown in [
            "backends",
            "backends:",
            "backends:;;",
            "backends::x",
            "backends:%:x",
            "backends:a%0Ab:x",
            "backends:%FF:",
            "later:x",
            "later/later:x",
            "/",
        ] {
            let key = format!("{}/{unknown}", stock()[1]);
            assert_eq!(endpoint(&key), endpoint(&stock()[1]), "{unknown}");
        }
        let both = endpoint(&format!("{}/later:x/backends:cpu:;%:/later", stock()[1]));
        assert_eq!(backends(&both), ["cpu"]);
        let node = format!("{}/later:x", stock()[0]);
        assert_eq!(Token::decode(&node), Token::decode(&stock()[0]));
    }

    #[test]
    fn the_word_for_a_missing_hash_is_told_from_a_hash_that_is_not_known() {
        let humble = stock()[1].replace(HASH, NO_HASH);
        let later = stock()[1].replace("RIHS01", "RIHS02");
        for (key, names_none) in [(&humble, true), (&later, false), (&stock()[1], false)] {
            assert_eq!(names_no_hash(key), names_none, "{key}");
        }
        assert_eq!((endpoint(&humble).type_hash, endpoint(&later).type_hash), (None, None));
        assert!(!names_no_hash(""));
    }

    #[test]
    fn gids_are_the_hash_of_the_text() {
        // The XXH3-128 hash of the empty string, from the specification's test vectors.
        let empty = 0x99aa_06d3_0147_98d8_6001_c324_468d_497f_u128;
        assert_eq!(gid(""), Gid(empty.to_le_bytes()));
    }

    #[test]
    fn others_are_refused() {
        let good = &stock()[1];
        let cut: Vec<_> = good.match_indices('/').map(|(at, _)| good[..at].to_owned()).collect();
        let others = [
            good.replace("/MS/", "/XX/"),
            good.replace("::,10", "9::,10"),
            good.replace("/0/10/", "/0/-1/"),
            good.replace("@ros2_lv/0/", "@ros2_lv/x/"),
            good.replace("aac3178e146ba6f1fc6e6a4085e77f21", "not hexadecimal"),
            good.replace("listener", ""),
            format!("{good}/{}", "x".repeat(LONGEST_BYTES)),
            String::new(),
        ];
        for bad in cut.iter().chain(&others) {
            assert_eq!(Token::decode(bad), None, "{bad}");
        }
    }
}
