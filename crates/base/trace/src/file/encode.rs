//! Encodes numbers, strings and blocks.

use super::format::checksum;
use crate::endpoint::EndpointName;
use crate::event::{Event, ThreadEvents};

#[derive(Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.raw(text.as_bytes());
    }

    pub(super) fn block(&mut self, kind: u8, write: impl FnOnce(&mut Self)) {
        self.0.push(kind);
        let head = self.0.len();
        self.raw(&[0; 8]);
        write(self);
        let content = &self.0[head + 8..];
        let (length, sum) = (content.len() as u32, checksum(content));
        self.0[head..head + 4].copy_from_slice(&length.to_le_bytes());
        self.0[head + 4..head + 8].copy_from_slice(&sum.to_le_bytes());
    }

    pub(super) fn names(&mut self, names: &[EndpointName]) {
        self.number(names.len() as u64);
        for EndpointName { number, kind, gid, topic } in names {
            self.number(u64::from(*number));
            self.0.push(*kind as u8);
            self.raw(gid);
            self.text(topic);
        }
    }

    /// Encodes some of the events of a thread, and the number of events that were overwritten
    /// before them.
    pub(super) fn thread(&mut self, thread: &ThreadEvents, events: &[Event], overwritten: u64) {
        self.number(thread.thread);
        self.text(&thread.name);
        self.number(overwritten);
        let mut gids: Vec<_> = events.iter().map(|event| event.message.publisher).collect();
        gids.sort_unstable();
        gids.dedup();
        self.number(gids.len() as u64);
        gids.iter().for_each(|gid| self.raw(gid));
        self.number(events.len() as u64);
        let (mut at, mut stamp, mut number) = (0_u64, 0_i64, 0_u64);
        for Event { at_nanos, point, transport, message, endpoint } in events {
            self.signed(at_nanos.wrapping_sub(at) as i64);
            self.raw(&[*point as u8, transport.map_or(0, |transport| transport as u8)]);
            self.number(u64::from(*endpoint));
            let gid = gids.binary_search(&message.publisher).unwrap_or_default();
            self.number(gid as u64);
            self.signed(message.stamp.wrapping_sub(stamp));
            self.signed(message.number.wrapping_sub(number) as i64);
            (at, stamp, number) = (*at_nanos, message.stamp, message.number);
        }
    }
}
