//! USER_DATA of participants and endpoints: lists of `key=value;` entries, in the format of
//! `rmw_dds_common` and `rmw_cyclonedds`.

use std::sync::Arc;

use crate::announcement::check_announcement;
use crate::buffer_backend::BufferBackend;
use crate::type_hash::TypeHash;

/// In the payload-header mapping, the id that both endpoints of a service server, or of a client,
/// have in common.
pub type PairId = [u8; 16];

/// The content of an endpoint's USER_DATA.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointData {
    /// The hash of the message type.
    pub type_hash: Option<TypeHash>,
    /// The id of a server. It is set only for servers that use the payload-header mapping.
    pub service_id: Option<PairId>,
    /// The id of a client. It is set only for clients that use the payload-header mapping.
    pub client_id: Option<PairId>,
    /// The announcement of a Feros endpoint. It has been checked with [`check_announcement`], and
    /// it is never empty.
    pub announcement: Option<Arc<str>>,
    /// The buffer backends, which endpoints of Feros do not announce.
    pub buffer_backends: Option<Arc<[BufferBackend]>>,
}

impl EndpointData {
    /// Returns the string that is sent.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        for (key, id) in [("serviceid", &self.service_id), ("clientid", &self.client_id)] {
            if let Some(id) = id {
                text.push_str(&format!("{key}={};", pair_id_text(id)));
            }
        }
        if let Some(hash) = &self.type_hash {
            text.push_str(&format!("typehash={hash};"));
        }
        if let Some(announcement) = &self.announcement {
            text.push_str(&format!("feros={announcement};"));
        }
        if let Some(backends) = &self.buffer_backends {
            let entry = |of: &BufferBackend| format!("{}:{}", of.name, of.data);
            let entries: Vec<_> = backends.iter().map(entry).collect();
            text.push_str(&format!("bufbe={};", entries.join(",")));
        }
        text
    }

    /// Reads USER_DATA from the network. Malformed or unknown entries are skipped, so that they
    /// never hide the known entries beside them.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut data = Self::default();
        for (key, value) in entries(bytes) {
            match key {
                "typehash" => data.type_hash = TypeHash::parse(value),
                "serviceid" => data.service_id = parse_pair_id(value),
                "clientid" => data.client_id = parse_pair_id(value),
                "feros" => data.announcement = announcement(value),
                "bufbe" => {
                    let keep = |text: &str| Some(text.to_owned());
                    data.buffer_backends = BufferBackend::read(value.split(','), keep);
                }
                _ => {}
            }
        }
        data
    }
}

/// Returns the announcement, or `None` if it is empty or invalid.
fn announcement(text: &str) -> Option<Arc<str>> {
    (!text.is_empty() && check_announcement(text).is_ok()).then(|| Arc::from(text))
}

/// The content of a participant's USER_DATA.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParticipantData {
    /// The security enclave, or an empty string if the participant announces no enclave.
    pub enclave: String,
    /// Whether the participant says that it runs Feros.
    pub is_feros: bool,
}

impl ParticipantData {
    /// The content for a participant of this process.
    pub fn of_this_process(enclave: &str) -> Self {
        Self { enclave: enclave.to_owned(), is_feros: true }
    }

    /// Returns the string that is sent. Participants of Feros announce the version of Feros.
    pub fn encode(&self) -> String {
        let feros = concat!("feros=", env!("CARGO_PKG_VERSION"), ";");
        format!("enclave={};{}", self.enclave, if self.is_feros { feros } else { "" })
    }

    /// Reads USER_DATA from the network. Malformed or unknown entries are skipped.
    pub fn parse(bytes: &[u8]) -> Self {
        let value =
            |wanted: &str| entries(bytes).find(|(key, _)| *key == wanted).map(|(_, value)| value);
        Self {
            enclave: value("enclave").unwrap_or_default().to_owned(),
            is_feros: value("feros").is_some(),
        }
    }
}

/// Returns the entries in order. Entries that are not UTF-8 or have no `=` are skipped. The NUL
/// that some implementations append is also skipped.
fn entries(bytes: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    bytes
        .split(|byte| *byte == b';')
        .filter_map(|entry| std::str::from_utf8(entry).ok())
        .filter_map(|entry| entry.trim_matches('\0').split_once('='))
}

/// Formats an id like stock ROS 2 (`rmw_cyclonedds_cpp/src/rmw_node.cpp`, `csid_to_string`), which
/// pads the first byte to two columns and joins the bytes with dots.
fn pair_id_text(id: &PairId) -> String {
    let mut text = format!("{:2x}", id[0]);
    id[1..].iter().for_each(|byte| text.push_str(&format!(".{byte:x}")));
    text
}

fn parse_pair_id(text: &str) -> Option<PairId> {
    let mut id = PairId::default();
    let mut parts = text.split('.');
    for byte in &mut id {
        *byte = u8::from_str_radix(parts.next()?.trim(), 16).ok()?;
    }
    parts.next().is_none().then_some(id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn user_data_of_stock_ros_2_is_read() {
        let text = b"clientid= 1.10.f6.c2.2f.31.3d.a7.f1.41.9c.46.0.0.0.8;typehash=RIHS01_\
            c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e;";
        let data = EndpointData::parse(text);
        assert_eq!(data.client_id.unwrap()[..4], [1, 0x10, 0xf6, 0xc2]);
        assert_eq!(data.client_id.unwrap()[15], 8);
        assert!(data.type_hash.is_some() && data.service_id.is_none());
        assert_eq!(data.encode().as_bytes(), text);
    }

    #[test]
    fn participants_announce_their_enclave_and_feros_itself() {
        let stock = |enclave: &str| ParticipantData { enclave: enclave.into(), is_feros: false };
        assert_eq!(ParticipantData::parse(b"enclave=/;\0"), stock("/"));
        assert_eq!(ParticipantData::parse(b"enclave=/a/b;"), stock("/a/b"));
        assert_eq!(ParticipantData::parse(b""), stock(""));
        assert_eq!(ParticipantData::parse(b"later=x;enclave=/;"), stock("/"));
        let own = ParticipantData::of_this_process("/a");
        let text = own.encode();
        assert!(text.starts_with("enclave=/a;feros="), "{text}");
        assert_eq!(ParticipantData::parse(text.as_bytes()), own);
        assert_eq!(stock("/").encode(), "enclave=/;");
    }

    const HASH: &str = "typehash=RIHS01_\
                        c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e;";

    fn backends(data: &EndpointData) -> Vec<String> {
        data.buffer_backends.iter().flat_map(|all| all.iter()).map(ToString::to_string).collect()
    }

    /// The forms of `rmw_fastrtps` 9.4.8 and newer, from `rmw_fastrtps_shared_cpp/src/qos.cpp` and
    /// `rmw_fastrtps_cpp/src/rmw_publish.cpp`.
    #[test]
    fn user_data_of_lyrical_is_read() {
        let data = EndpointData::parse(format!("{HASH}bufbe=cpu:;").as_bytes());
        assert!(data.type_hash.is_some());
        assert_eq!(backends(&data), ["cpu"]);
        let gpu = format!("{HASH}bufbe=gpu:device=0,cpu:;PGID:01.0f.2c;\0");
        let data = EndpointData::parse(gpu.as_bytes());
        assert!(data.type_hash.is_some());
        assert_eq!(backends(&data), ["cpu", "gpu(device=0)"]);
        assert_eq!(data.encode(), format!("{HASH}bufbe=cpu:,gpu:device=0;"));
        assert_eq!(EndpointData::parse(data.encode().as_bytes()), data);
    }

    /// Neither the form of `rmw_fastrtps` 9.4.6 nor what a later distribution may add hides what is
    /// known, wherever it stands.
    #[test]
    fn entries_of_other_distributions_hide_no_known_entry() {
        let known = EndpointData::parse(HASH.as_bytes());
        for unknown in [
            "BUFBE:cpu=;",
            "BUFBE:cpu=;cuda=x;",
            "bufbe=;",
            "bufbe=,;",
            "bufbe=:x;",
            "bufbe;",
            "later=1;",
            "later;",
            ";;=;",
            "\u{7f}=\u{1b}[31m;",
            "a b=c=d;",
        ] {
            for text in [format!("{HASH}{unknown}"), format!("{unknown}{HASH}")] {
                assert_eq!(EndpointData::parse(text.as_bytes()), known, "{text:?}");
            }
        }
        let bytes = [&b"\xff\xfe=\x00;"[..], HASH.as_bytes(), b"bufbe=\xff:,cpu:;"].concat();
        assert_eq!(EndpointData::parse(&bytes), known);
    }

    #[test]
    fn announcements_follow_the_type_hash() {
        let given = EndpointData {
            type_hash: Some(TypeHash([1; 32])),
            announcement: Some("host=7,x=y".into()),
            ..EndpointData::default()
        };
        let text = given.encode();
        assert!(text.ends_with("01;feros=host=7,x=y;"), "{text}");
        assert_eq!(EndpointData::parse(text.as_bytes()), given);
        let longest = "x".repeat(crate::announcement::MAX_ANNOUNCEMENT_BYTES);
        let parsed = EndpointData::parse(format!("feros={longest};").as_bytes());
        assert_eq!(parsed.announcement.as_deref(), Some(longest.as_str()));
        for hostile in
            ["feros=;", &format!("feros={longest}x;"), "feros=a\nb;", "feros;", "=feros=;"]
        {
            assert_eq!(
                EndpointData::parse(hostile.as_bytes()),
                EndpointData::default(),
                "{hostile:?}"
            );
        }
    }

    #[test]
    fn nonsense_is_passed_over() {
        for bytes in
            [&b"\xff\xfe=;"[..], b";;;=", b"clientid=;typehash=RIHS01_xyz", b"clientid=1.2.3", b"="]
        {
            assert_eq!(EndpointData::parse(bytes), EndpointData::default(), "{bytes:?}");
        }
        let seventeen = ["1"; 17].join(".");
        assert_eq!(
            EndpointData::parse(format!("clientid={seventeen};").as_bytes()).client_id,
            None
        );
    }
}
