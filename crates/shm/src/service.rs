//! One iceoryx2 service per publisher: its name, its limits, and what precedes each message.

use iceoryx2::prelude::{Node, ServiceName};
use iceoryx2::service::builder::publish_subscribe::Builder;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use crate::ipc::Ipc;

pub(crate) type Service = PortFactory<Ipc, [u8], ()>;

/// Of what [`WireHeader`] and the payload behind it look like.
pub(crate) const FORMAT_VERSION: u32 = 2;

/// The message lies behind [`WireHeader`], which is aligned to 8, and this padding, so that what
/// follows the 4-byte encapsulation header, the origin of alignment in CDR, is aligned to 8 again.
const LEADING_BYTES: usize = 4;

/// What lies before each message: with the encapsulation header, as much as one cache line.
pub(crate) const HEAD_BYTES: usize = size_of::<WireHeader>() + LEADING_BYTES;

/// The largest message that goes through shared memory: lengths in CDR are 32-bit.
pub(crate) const MAX_MESSAGE_BYTES: usize = u32::MAX as usize;

/// What a publisher says of a message besides its content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleHeader {
    /// The publisher's strictly increasing time stamp, nanoseconds since the epoch.
    pub stamp: i64,
    /// Number of the message at its publisher, from 1, whichever paths it took.
    pub publication_number: u64,
    /// When it expires, nanoseconds of `CLOCK_MONOTONIC`; 0: never.
    pub expires_nanos: u64,
    /// Reserved for the publisher and its readers; 0 today.
    pub flags: u32,
}

/// What lies before each message in shared memory. Read by other processes: every field is checked
/// by whoever reads it.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct WireHeader {
    pub(crate) version: u32,
    pub(crate) flags: u32,
    /// The first eight bytes of the type's hash; 0 when the publisher knows none.
    pub(crate) type_hash: u64,
    /// Number of the message among those that went through shared memory, from 1: what is missing
    /// was dropped from a full queue.
    pub(crate) sequence: u64,
    pub(crate) cdr_bytes: u32,
    /// How long a message may be where this one lies.
    pub(crate) room_bytes: u32,
    pub(crate) stamp: i64,
    pub(crate) publication_number: u64,
    pub(crate) expires_nanos: u64,
}

const _: () = assert!(HEAD_BYTES + 4 == 64 && align_of::<WireHeader>() == 8);

/// The part of a type's hash that travels with each message.
pub(crate) fn hash_prefix(hash: Option<[u8; 32]>) -> u64 {
    hash.map_or(0, |hash| {
        u64::from_be_bytes([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]])
    })
}

pub(crate) fn builder(node: &Node<Ipc>, id: u64) -> Builder<[u8], (), Ipc> {
    let name = ServiceName::new(&format!("feros/{id:016x}"))
        .expect("a short name of plain characters is a service name");
    node.service_builder(&name).publish_subscribe::<[u8]>()
}
