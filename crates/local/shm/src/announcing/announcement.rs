//! An endpoint's announcement of its transports, which the other side of a match reads.
//!
//! The announcement is a string in the endpoint's USER_DATA, after the entries of stock ROS 2:
//!
//! ```text
//! <format>,<boot>-<user namespace>-<PID namespace>-</dev/shm>,<uid>,<pid>,<token>,<endpoint>,<transports>,<memory>[,<declined>]
//! ```
//!
//! Numbers are hexadecimal. `transports` are the first letters of the allowed transports, or `-`.
//! `memory` is the file number of the process segment, or `!` and the code of the obstacle.
//! `declined` are the publishers whose shared memory a subscription could not open
//! ([`crate::declined`]). `-` represents an unknown location. Later versions may add letters,
//! codes, and fields at the end. An announcement in another format is not read at all. Every change
//! to memory that processes share, including the header of messages, must increment
//! [`format_version`]. If a string begins with `-` and not with the format, it is not about
//! transports; for example, it may be the mark of a bridge.

use super::host_id::HostId;
use super::transport_set::TransportSet;
use crate::format_version::format_version;
use crate::reason::declined::{Declined, MAX_DECLINED, hex};
use crate::reason::{Obstacle, Reason};
use crate::segment::{ProcessSegment, process_token};
use feros_trace::Transport;
use std::fmt::Write;

/// Strings that are longer than this are refused without being read. Feros writes about 100 bytes.
const MAX_TEXT_BYTES: usize = 512;

/// The announcement of a Feros endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The location of the endpoint's process, if it is known.
    pub host: Option<HostId>,
    /// The user of that process.
    pub uid: u32,
    /// The id of that process.
    pub pid: u32,
    /// The token of that process, from [`process_token`].
    pub token: u64,
    /// The number of the endpoint. For a publisher, it is the random id. For a subscription, it is
    /// the [`EntryId`](crate::EntryId). For a client, it is
    /// [`CallMemory::endpoint`](crate::CallMemory::endpoint), or 0 without call memory. For a
    /// server, it is 0.
    pub endpoint: u64,
    /// The transports that the endpoint may use.
    pub transports: TransportSet,
    /// The file number of the process segment, or the reason why the process has no segment or the
    /// endpoint cannot use it.
    pub shared_memory: Result<u32, Obstacle>,
    /// The publishers whose shared memory this subscription could not open. At most eight
    /// publishers are announced.
    pub declined: Vec<Declined>,
}

impl Announcement {
    /// Makes the announcement of an endpoint of this process. `obstacle` is the reason why this
    /// endpoint cannot use shared memory. Obstacles of the whole process need not be given.
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

    /// Returns the announcement as a string of printable ASCII without `;` and `=`. It has 100 to
    /// 150 bytes, plus about 30 bytes for each declined publisher.
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
            "{:x},{host},{:x},{:x},{:x},{:x},{transports},",
            format_version(),
            self.uid,
            self.pid,
            self.token,
            self.endpoint
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

/// The result of reading an endpoint's announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Announced {
    /// The endpoint announces no transports, like stock ROS 2.
    Nothing,
    /// The endpoint's announcement cannot be read.
    Unreadable,
    /// The endpoint's announcement has another format, whose number is given here.
    OtherVersion(u32),
    /// The endpoint is a Feros endpoint.
    Feros(Announcement),
}

impl Announced {
    /// Reads an endpoint's announcement, if there is one. Accepts any string.
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
            Some(version) if version == format_version() => {
                parse(fields).map_or(Self::Unreadable, Self::Feros)
            }
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

    /// Removes the publisher with this id from the declined publishers, and returns the reason why
    /// the subscription declined it. After that, [`classify`](crate::classify) does not see this
    /// reason any longer, because the subscription may still be able to open the publisher's
    /// memory.
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
