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
//! share in memory, here or in the header of messages, counts [`FORMAT_VERSION`] up. A `-` in place
//! of the format says nothing of transports: what follows is for others, such as the mark of a
//! bridge.

use crate::declined::{Declined, MAX_DECLINED, hex};
use crate::format_version::FORMAT_VERSION;
use crate::host_id::HostId;
use crate::reason::{Obstacle, Reason};
use crate::segment::ProcessSegment;
use crate::token::process_token;
use crate::transport_set::TransportSet;
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
    /// A publisher's random id, a subscription's [`EntryId`](crate::EntryId), a client's
    /// [`CallMemory::endpoint`](crate::CallMemory::endpoint) (0 if it has none); 0 of a server.
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
    /// It announces no transports, as stock ROS 2.
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
        if text.starts_with("-,") {
            return Self::Nothing;
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
    /// forgotten here, so that [`classify`](crate::classify) tells which transport there would be
    /// otherwise. It may open it yet.
    pub fn forget_declined(&mut self, publisher: u64) -> Option<Reason> {
        let Self::Feros(announcement) = self else { return None };
        let index =
            announcement.declined.iter().position(|declined| declined.publisher == publisher)?;
        Some(announcement.declined.remove(index).why.reason())
    }

    pub(crate) fn allows(&self, transport: Transport) -> bool {
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

#[cfg(test)]
mod tests;
