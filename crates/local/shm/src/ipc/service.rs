//! The iceoryx2 service of a publisher (each publisher has a service of its own): the name and
//! limits of the service, and the header before each message.

use iceoryx2::prelude::{Node, ServiceName};
use iceoryx2::service::builder::publish_subscribe::Builder;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use super::Ipc;

pub(crate) type Service = PortFactory<Ipc, [u8], ()>;

/// The version of [`WireHeader`] and of the payload that follows it.
pub(crate) const HEADER_VERSION: u32 = 2;

/// The padding between [`WireHeader`], which is aligned to 8 bytes, and the message. The message
/// begins with the encapsulation header of 4 bytes. With this padding, the bytes after the
/// encapsulation header are aligned to 8 bytes. CDR counts its alignment from there.
const LEADING_BYTES: usize = 4;

/// The size of the header and the padding before each message. Together with the encapsulation
/// header, they fill one cache line.
pub(crate) const HEAD_BYTES: usize = size_of::<WireHeader>() + LEADING_BYTES;

/// The limit on the size of a message in shared memory. Lengths in CDR have 32 bits.
pub(crate) const MAX_MESSAGE_BYTES: usize = u32::MAX as usize;

/// The header of a message, as the publisher gives it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleHeader {
    /// The publisher's time stamp, in nanoseconds since the epoch. The stamps of a publisher
    /// increase strictly.
    pub stamp: i64,
    /// The publication number of the message, counted from 1, no matter which transports the
    /// message took.
    pub publication_number: u64,
    /// The end of the message's lifespan, in nanoseconds since the epoch. 0 means that the lifespan
    /// does not end.
    pub expires_nanos: u64,
    /// Reserved for the publisher and its readers. At present, this is 0.
    pub flags: u32,
}

/// The header of each message in shared memory. Readers check each field before they use it.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct WireHeader {
    pub(crate) version: u32,
    pub(crate) flags: u32,
    /// The first eight bytes of the type's hash; 0 if the publisher has no hash.
    pub(crate) type_hash: u64,
    /// The number of this message among the messages sent through shared memory, counted from 1. If
    /// a number is missing, its message was dropped from a full queue.
    pub(crate) sequence: u64,
    pub(crate) cdr_bytes: u32,
    /// The room for the message in this chunk.
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
