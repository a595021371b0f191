//! The iceoryx2 service of a publisher (each publisher has its own): the service's name and limits,
//! and the header before each message.

use iceoryx2::prelude::{Node, ServiceName};
use iceoryx2::service::builder::publish_subscribe::Builder;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use crate::ipc::Ipc;

pub(crate) type Service = PortFactory<Ipc, [u8], ()>;

/// The version of [`WireHeader`] and of the payload that follows it.
pub(crate) const HEADER_VERSION: u32 = 2;

/// The padding between [`WireHeader`], which is aligned to 8, and the message. The message begins
/// with the 4-byte encapsulation header; with the padding, the bytes after that header, from which
/// CDR counts alignment, are aligned to 8.
const LEADING_BYTES: usize = 4;

/// The size of the header and padding before each message. Together with the encapsulation header,
/// they fill one cache line.
pub(crate) const HEAD_BYTES: usize = size_of::<WireHeader>() + LEADING_BYTES;

/// The limit on the size of a message in shared memory: lengths in CDR have 32 bits.
pub(crate) const MAX_MESSAGE_BYTES: usize = u32::MAX as usize;

/// A message's header, as given by its publisher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleHeader {
    /// The publisher's strictly increasing time stamp, in nanoseconds since the epoch.
    pub stamp: i64,
    /// The message's publication number, from 1, whatever transports it took.
    pub publication_number: u64,
    /// The end of the message's lifespan, in nanoseconds since the epoch; 0 for no end.
    pub expires_nanos: u64,
    /// Reserved for the publisher and its readers; 0 at present.
    pub flags: u32,
}

/// The header of each message in shared memory. Readers check every field that they use.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct WireHeader {
    pub(crate) version: u32,
    pub(crate) flags: u32,
    /// The first eight bytes of the type's hash; 0 if the publisher has no hash.
    pub(crate) type_hash: u64,
    /// The number of the message among those sent through shared memory, from 1. If a number is
    /// missing, that message was dropped from a full queue.
    pub(crate) sequence: u64,
    pub(crate) cdr_bytes: u32,
    /// The room for a message in this chunk.
    pub(crate) room_bytes: u32,
    pub(crate) stamp: i64,
    pub(crate) publication_number: u64,
    pub(crate) expires_nanos: u64,
}

const _: () = assert!(HEAD_BYTES + 4 == 64 && align_of::<WireHeader>() == 8);

/// The part of a type's hash that is sent with each message.
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
