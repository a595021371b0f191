//! What an endpoint tells the other side of a match about its transports, and which transport
//! follows from it.
//!
//! The text travels in the endpoint's USER_DATA, beside what stock ROS 2 puts there:
//!
//! ```text
//! <format>,<boot>-<user namespace>-<PID namespace>-</dev/shm>,<uid>,<pid>,<token>,<endpoint>,<transports>,<memory>[,<declined>]
//! ```
//!
//! Numbers are hexadecimal; `transports` are the first letters of those allowed (or `-`); `memory`
//! is the file number of the process segment, or `!` and the code of what is in the way; `declined`
//! are the publishers whose shared memory a subscription could not open ([`crate::declined`]). A
//! place that cannot be told is `-`. Later versions may add fields at the end, and letters and
//! codes; a format of another number is not read at all. Whoever changes anything that processes
//! share in memory, here or in the header of messages, counts [`FORMAT_VERSION`] up.

use crate::declined::{Declined, MAX_DECLINED, hex};
use crate::format_version::FORMAT_VERSION;
use crate::host_id::HostId;
use crate::segment::ProcessSegment;
use crate::token::process_token;
use crate::transports::{Obstacle, Reason, Side, TransportSet};
use feros_trace::Transport;
use std::fmt::Write;

/// Longer texts are not looked at. Ours have some 100 bytes.
const MAX_TEXT_BYTES: usize = 512;

/// What a Feros endpoint tells about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// Where its process runs, if that is known.
    pub host: Option<HostId>,
    /// The user of its process.
    pub uid: u32,
    /// Its process.
    pub pid: u32,
    /// The process's token, see [`process_token`].
    pub token: u64,
    /// A publisher's random id, or a subscription's [`EntryId`](crate::EntryId) (0 if it has none).
    pub endpoint: u64,
    /// The transports that it may use.
    pub transports: TransportSet,
    /// The file number of its process's segment, or why it has no shared memory.
    pub shared_memory: Result<u32, Obstacle>,
    /// Publishers whose shared memory this subscription could not open. Not more than eight are
    /// announced.
    pub declined: Vec<Declined>,
}

impl Announcement {
    /// The announcement of an endpoint of this process. `obstacle` is what keeps this endpoint from
    /// using shared memory, beside what keeps the whole process from it.
    pub fn of_this_process(
        endpoint: u64,
        transports: TransportSet,
        obstacle: Option<Obstacle>,
    ) -> Self {
        let host = HostId::of_this_process();
        let segment = ProcessSegment::of_this_process();
        let shared_memory = match (obstacle, host, segment) {
            (Some(obstacle), ..) => Err(obstacle),
            (None, _, Err(unavailable)) => Err(unavailable.obstacle()),
            (None, None, _) => Err(Obstacle::NoDevShm),
            (None, Some(_), Ok(segment)) => Ok(segment.file_number()),
        };
        Self {
            host,
            uid: rustix::process::geteuid().as_raw(),
            pid: std::process::id(),
            token: process_token().get(),
            endpoint,
            transports,
            shared_memory,
            declined: Vec::new(),
        }
    }

    /// The text: printable ASCII without `;` and `=`, 100 to 150 bytes, and some 30 for each
    /// publisher that is declined.
    pub fn encode(&self) -> String {
        let host = self.host.map_or_else(
            || "-".to_owned(),
            |host| {
                let HostId { boot, user_namespace, pid_namespace, dev_shm } = host;
                format!("{boot:x}-{user_namespace:x}-{pid_namespace:x}-{dev_shm:x}")
            },
        );
        let mut transports: String = self.transports.iter().map(letter).collect();
        if transports.is_empty() {
            transports.push('-');
        }
        let mut text = format!(
            "{FORMAT_VERSION:x},{host},{:x},{:x},{:x},{:x},{transports},",
            self.uid, self.pid, self.token, self.endpoint
        );
        let written = match self.shared_memory {
            Ok(file) => write!(text, "{file:x}"),
            Err(obstacle) => write!(text, "!{}", obstacle.code()),
        };
        written.expect("writing to a string cannot fail");
        let declined = self.declined.iter().take(MAX_DECLINED).map(|declined| declined.encode());
        for (index, declined) in declined.enumerate() {
            text.push(if index == 0 { ',' } else { '+' });
            text.push_str(&declined);
        }
        text
    }
}

fn letter(transport: Transport) -> char {
    match transport {
        Transport::IntraProcess => 'p',
        Transport::SharedMemory => 'h',
        Transport::Network => 'n',
    }
}

/// What is known of an endpoint's transports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Announced {
    /// It announces nothing, as stock ROS 2.
    Nothing,
    /// It announces something that cannot be read.
    Unreadable,
    /// It announces something in this other format.
    OtherVersion(u32),
    /// It is a Feros endpoint.
    Feros(Announcement),
}

impl Announced {
    /// Reads what an endpoint announced, if anything. Any text is permitted.
    pub fn read(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::Nothing };
        if text.len() > MAX_TEXT_BYTES {
            return Self::Unreadable;
        }
        let mut fields = text.split(',');
        match fields.next().and_then(hex).and_then(|version| u32::try_from(version).ok()) {
            None => Self::Unreadable,
            Some(FORMAT_VERSION) => parse(fields).map_or(Self::Unreadable, Self::Feros),
            Some(version) => Self::OtherVersion(version),
        }
    }

    /// The announcement, if it could be read.
    pub fn feros(&self) -> Option<&Announcement> {
        match self {
            Self::Feros(announcement) => Some(announcement),
            _ => None,
        }
    }

    /// Why this subscription does not use the shared memory of the publisher with this id;
    /// forgotten here, so that [`classify`] tells which transport there would be otherwise. It may
    /// open it yet.
    pub fn forget_declined(&mut self, publisher: u64) -> Option<Reason> {
        let Self::Feros(announcement) = self else { return None };
        let index =
            announcement.declined.iter().position(|declined| declined.publisher == publisher)?;
        Some(announcement.declined.remove(index).why.reason())
    }

    fn allows(&self, transport: Transport) -> bool {
        self.feros().is_none_or(|announcement| announcement.transports.contains(transport))
    }
}

impl From<Announcement> for Announced {
    fn from(announcement: Announcement) -> Self {
        Self::Feros(announcement)
    }
}

fn parse<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<Announcement> {
    Some(Announcement {
        host: match fields.next()? {
            "-" => None,
            host => Some(parse_host(host)?),
        },
        uid: hex(fields.next()?)?.try_into().ok()?,
        pid: hex(fields.next()?)?.try_into().ok()?,
        token: hex(fields.next()?)?,
        endpoint: hex(fields.next()?)?,
        transports: {
            let letters = fields.next()?;
            Transport::ALL
                .into_iter()
                .filter(|&transport| letters.contains(letter(transport)))
                .collect()
        },
        shared_memory: {
            let memory = fields.next()?;
            match memory.strip_prefix('!') {
                Some(code) => Err(Obstacle::from_code(code)),
                None => Ok(hex(memory)?.try_into().ok()?),
            }
        },
        declined: {
            let declined = fields.next().unwrap_or_default().split('+');
            declined.take(MAX_DECLINED).filter_map(Declined::parse).collect()
        },
    })
}

fn parse_host(text: &str) -> Option<HostId> {
    let mut parts = text.split('-').map(hex);
    let mut next = || parts.next().flatten();
    let host =
        HostId { boot: next()?, user_namespace: next()?, pid_namespace: next()?, dev_shm: next()? };
    parts.next().is_none().then_some(host)
}

/// The transport of a match, and why it is not a shorter one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// `None`: no transport that both sides allow is possible, and nothing is delivered.
    pub transport: Option<Transport>,
    /// `None`: no transport is shorter, or none between two processes.
    pub reason: Option<Reason>,
}

/// The shortest transport that both sides allow and that what they announce makes possible. Whether
/// the shared-memory transport works in the end shows when it is set up; where that fails, the
/// subscription announces it.
pub fn classify(publisher: &Announced, subscription: &Announced) -> Choice {
    let (sender, receiver) = match both_known(publisher, subscription) {
        Ok(known) => known,
        Err(reason) => return network(publisher, subscription, reason),
    };
    let same_process = sender.host == receiver.host
        && sender.pid == receiver.pid
        && sender.token == receiver.token;
    let mut reason = None;
    if same_process {
        reason = forbidden(publisher, subscription, Transport::IntraProcess);
        if reason.is_none() {
            return Choice { transport: Some(Transport::IntraProcess), reason: None };
        }
    }
    let host_obstacle = different_places(sender, receiver)
        .or_else(|| forbidden(publisher, subscription, Transport::SharedMemory));
    if let Some(obstacle) = host_obstacle.or_else(|| no_shared_memory(sender, receiver)) {
        return network(publisher, subscription, reason.unwrap_or(obstacle));
    }
    match declined(sender, receiver) {
        None => Choice { transport: Some(Transport::SharedMemory), reason },
        Some(why) => network(publisher, subscription, why),
    }
}

fn both_known<'a>(
    publisher: &'a Announced,
    subscription: &'a Announced,
) -> Result<(&'a Announcement, &'a Announcement), Reason> {
    for (side, announced) in [(Side::Publisher, publisher), (Side::Subscription, subscription)] {
        match announced {
            Announced::Nothing => return Err(Reason::StockPeer { side }),
            Announced::Unreadable => return Err(Reason::UnreadableAnnouncement { side }),
            Announced::OtherVersion(_) | Announced::Feros(_) => {}
        }
    }
    match (publisher, subscription) {
        (Announced::Feros(sender), Announced::Feros(receiver)) => Ok((sender, receiver)),
        _ => {
            let version = |announced: &Announced| match announced {
                Announced::OtherVersion(version) => *version,
                _ => FORMAT_VERSION,
            };
            Err(Reason::IncompatibleVersion {
                publisher: version(publisher),
                subscription: version(subscription),
            })
        }
    }
}

fn forbidden(
    publisher: &Announced,
    subscription: &Announced,
    transport: Transport,
) -> Option<Reason> {
    [(Side::Publisher, publisher), (Side::Subscription, subscription)]
        .into_iter()
        .find(|(_, announced)| !announced.allows(transport))
        .map(|(by, _)| Reason::NotAllowed { transport, by })
}

/// What keeps processes from sharing memory, the most fundamental first.
fn different_places(sender: &Announcement, receiver: &Announcement) -> Option<Reason> {
    // A side that does not know its place has said why it has no shared memory.
    let (Some(here), Some(there)) = (sender.host, receiver.host) else {
        let (by, announcement) = match sender.host {
            None => (Side::Publisher, sender),
            Some(_) => (Side::Subscription, receiver),
        };
        let why = announcement.shared_memory.err().unwrap_or(Obstacle::Other);
        return Some(Reason::SharedMemoryUnavailable { by, why });
    };
    if here.boot != there.boot {
        Some(Reason::OtherHost)
    } else if here.user_namespace != there.user_namespace {
        Some(Reason::OtherUserNamespace)
    } else if here.pid_namespace != there.pid_namespace {
        Some(Reason::OtherPidNamespace)
    } else if sender.uid != receiver.uid {
        Some(Reason::OtherUser { publisher_uid: sender.uid, subscription_uid: receiver.uid })
    } else if here.dev_shm != there.dev_shm {
        Some(Reason::OtherDevShm)
    } else {
        None
    }
}

fn no_shared_memory(sender: &Announcement, receiver: &Announcement) -> Option<Reason> {
    [(Side::Publisher, sender), (Side::Subscription, receiver)]
        .into_iter()
        .find_map(|(by, announcement)| announcement.shared_memory.err().map(|why| (by, why)))
        .map(|(by, why)| Reason::SharedMemoryUnavailable { by, why })
}

fn declined(sender: &Announcement, receiver: &Announcement) -> Option<Reason> {
    let declined =
        receiver.declined.iter().find(|declined| declined.publisher == sender.endpoint)?;
    Some(declined.why.reason())
}

fn network(publisher: &Announced, subscription: &Announced, shorter: Reason) -> Choice {
    match forbidden(publisher, subscription, Transport::Network) {
        Some(Reason::NotAllowed { by, .. }) => Choice {
            transport: None,
            reason: Some(Reason::NoTransport { shorter: Box::new(shorter), by }),
        },
        _ => Choice { transport: Some(Transport::Network), reason: Some(shorter) },
    }
}

#[cfg(test)]
mod tests;
