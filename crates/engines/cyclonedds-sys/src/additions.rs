//! The functions that Feros adds to Cyclone DDS: samples and topics of the shim, the sender's rate
//! on a full link, the requests for lost fragments, the times of discovery, and what was received.

use std::ffi::{CStr, c_char, c_void};

use crate::{
    dds_duration_t, dds_entity_t, dds_instance_handle_t, dds_return_t, ddsi_sertype, feros_pool,
    feros_sample,
};

/// The property with the library of a participant of another process, which
/// `patches/library.patch` adds to the participant's QoS.
pub const LIBRARY_PROPERTY: &CStr = c"__FerosLibrary";

/// See `feros_shim.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct feros_identity {
    pub guid: [u8; 16],
    pub sequence_number: i64,
}

/// See `feros_shim.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct feros_sample_info {
    pub source_timestamp: i64,
    pub received_timestamp: i64,
    pub sequence_number: i64,
    pub writer_guid: [u8; 16],
    pub has_related: bool,
    pub source_kind: u8,
    pub related: feros_identity,
    pub source: [u8; 16],
}

/// See `feros_shim.h`.
pub const FEROS_SOURCE_THIS_PROCESS: u8 = 0;
/// See `feros_shim.h`.
pub const FEROS_SOURCE_IPV4: u8 = 4;
/// See `feros_shim.h`.
pub const FEROS_SOURCE_IPV6: u8 = 6;
/// See `feros_shim.h`.
pub const FEROS_SOURCE_UNKNOWN: u8 = 255;

/// See `feros_shim.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct feros_reception {
    pub writer_guid: [u8; 16],
    pub sequence_number: i64,
    pub source_timestamp: i64,
    pub received_timestamp: i64,
}

/// The smallest sample, which consists of the encapsulation header.
pub const FEROS_SAMPLE_MIN_BYTES: usize = 4;
/// The largest sample.
pub const FEROS_SAMPLE_MAX_BYTES: usize = 0x7fff_fff0;

pub type feros_interface_fn =
    unsafe extern "C" fn(*const c_char, *const c_char, bool, bool, bool, *mut c_void);

unsafe extern "C" {
    pub fn feros_pool_new(retain_bytes: usize) -> *mut feros_pool;
    pub fn feros_pool_unref(pool: *mut feros_pool);

    pub fn feros_find_related_identity(
        list: *const u8,
        size: usize,
        little_endian: bool,
        out: *mut feros_identity,
    ) -> bool;

    pub fn feros_create_topic(
        participant: dds_entity_t,
        pool: *mut feros_pool,
        name: *const c_char,
        type_name: *const c_char,
        sertype: *mut *const ddsi_sertype,
    ) -> dds_entity_t;
    pub fn feros_refused_samples(sertype: *const ddsi_sertype) -> u64;
    pub fn feros_sample_new(sertype: *const ddsi_sertype, size: usize) -> *mut feros_sample;
    pub fn feros_sample_bytes(sample: *mut feros_sample) -> *mut u8;
    pub fn feros_sample_size(sample: *const feros_sample) -> usize;
    pub fn feros_sample_get_info(sample: *const feros_sample, out: *mut feros_sample_info);
    pub fn feros_sample_set_related(sample: *mut feros_sample, related: *const feros_identity);
    pub fn feros_latest_reception(out: *mut feros_reception) -> bool;
    pub fn feros_sample_is_unique(sample: *const feros_sample) -> bool;
    pub fn feros_sample_unref(sample: *mut feros_sample);
    pub fn feros_write(
        writer: dds_entity_t,
        sample: *mut feros_sample,
        guid: *const [u8; 16],
        sequence_number: i64,
        source_timestamp: i64,
    ) -> dds_return_t;
    pub fn feros_take(
        reader: dds_entity_t,
        out: *mut *mut feros_sample,
        publication: *mut dds_instance_handle_t,
    ) -> dds_return_t;

    pub fn feros_wait_for_acks_of(
        writer: dds_entity_t,
        reader: *const [u8; 16],
        timeout: dds_duration_t,
    ) -> dds_return_t;
    pub fn feros_leave(participant: dds_entity_t, now: bool) -> dds_return_t;
    pub fn feros_local_readers_have_room(writer: dds_entity_t) -> dds_return_t;
    pub fn feros_wait_until_announced(
        entity: dds_entity_t,
        endpoint: *const [u8; 16],
        timeout: dds_duration_t,
    ) -> dds_return_t;
    pub fn feros_forget_participant_of(
        entity: dds_entity_t,
        endpoint: *const [u8; 16],
    ) -> dds_return_t;
    pub fn feros_for_each_interface(each: feros_interface_fn, arg: *mut c_void) -> i32;

    pub static feros_builtin_participant: dds_entity_t;
    pub static feros_builtin_publication: dds_entity_t;
    pub static feros_builtin_subscription: dds_entity_t;
}

/// See `engine/feros_neighbours.h`.
pub const FEROS_ANNOUNCES_PARTICIPANT: u32 = 1;
/// See `engine/feros_neighbours.h`.
pub const FEROS_ANNOUNCES_WRITER: u32 = 2;
/// See `engine/feros_neighbours.h`.
pub const FEROS_ANNOUNCES_READER: u32 = 3;

/// See `engine/feros_neighbours.h`.
#[repr(C)]
#[derive(Debug)]
pub struct feros_neighbours {
    pub arg: *mut c_void,
    pub announced: unsafe extern "C" fn(*mut c_void, u32, bool, *const [u8; 16], *const u8, usize),
    pub pulsed: unsafe extern "C" fn(*mut c_void, *const [u8; 12], bool),
    pub is_neighbour: unsafe extern "C" fn(*mut c_void, *const [u8; 12]) -> bool,
    pub processed: unsafe extern "C" fn(*mut c_void, *const [u8; 12], u64, bool),
}

/// See `engine/feros_introductions.h`.
pub const FEROS_MEETS_NOBODY: u32 = 0;
/// See `engine/feros_introductions.h`.
pub const FEROS_MEETS: u32 = 1;
/// See `engine/feros_introductions.h`.
pub const FEROS_INTRODUCES: u32 = 2;

/// See `engine/feros_neighbours.h`.
#[repr(C)]
#[derive(Debug)]
pub struct feros_announcement {
    pub kind: u32,
    pub is_alive: bool,
    pub guid: [u8; 16],
    pub bytes: *const u8,
    pub size: usize,
}

unsafe extern "C" {
    pub fn feros_neighbours_of_next_domain(neighbours: *const feros_neighbours);
    pub fn feros_introductions_of_next_domain(role: u32);
    pub fn feros_learn(
        domain: dds_entity_t,
        prefix: *const [u8; 12],
        announcements: *const feros_announcement,
        count: usize,
        through: u64,
    ) -> dds_return_t;
    pub fn feros_neighbour_lives(
        domain: dds_entity_t,
        prefix: *const [u8; 12],
        is_manual: bool,
    ) -> dds_return_t;
    pub fn feros_neighbour_ended(domain: dds_entity_t, prefix: *const [u8; 12]) -> dds_return_t;
}

unsafe extern "C" {
    // See `feros_shim.h`.
    pub fn feros_received(
        entity: dds_entity_t,
        datagrams: *mut u64,
        bytes: *mut u64,
    ) -> dds_return_t;
}

/// See `engine/feros_rate_control.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct feros_report {
    pub first_seq: u64,
    pub micros: u32,
    pub bytes: u32,
    pub expected: u32,
    pub whole: u32,
    pub broken: u32,
}

/// See `engine/feros_rate_control.h`. The default is the initial state.
#[repr(C)]
#[derive(Debug, Default)]
pub struct feros_tally {
    _private: [u64; 8],
}

/// See `engine/feros_rate_control.h`. The default is the initial state.
#[repr(C)]
#[derive(Debug, Default)]
pub struct feros_rate {
    _private: [u64; 13],
}

/// See `engine/feros_rate_control.h`.
pub const FEROS_RATE_KEEPS_UP: u32 = 0;
/// See `engine/feros_rate_control.h`.
pub const FEROS_RATE_NO_HELP: u32 = 1;
/// See `engine/feros_rate_control.h`.
pub const FEROS_RATE_SEND: u32 = 2;
/// See `engine/feros_rate_control.h`.
pub const FEROS_RATE_LEAVE_OUT: u32 = 3;

unsafe extern "C" {
    pub fn feros_tally_fragment(
        tally: *mut feros_tally,
        now: i64,
        seq: u64,
        sample_bytes: u32,
        bytes: u32,
        report: *mut feros_report,
    ) -> bool;
    pub fn feros_tally_whole(tally: *mut feros_tally, seq: u64);
    pub fn feros_rate_hear(rate: *mut feros_rate, report: *const feros_report, seq: u64, now: i64);
    pub fn feros_rate_ask(rate: *mut feros_rate, bytes: u32, now: i64) -> u32;
    pub fn feros_rate_sent(rate: *mut feros_rate, bytes: u32, now: i64);
}

/// See `engine/feros_requests.h`. The default is the initial state.
#[repr(C)]
#[derive(Debug, Default)]
pub struct feros_requests {
    _private: [u64; 21],
}

unsafe extern "C" {
    pub fn feros_requests_asked(
        requests: *mut feros_requests,
        seq: u64,
        base: u32,
        count: u32,
        begins: bool,
        next_seq: u64,
        now: i64,
    );
    pub fn feros_requests_answer(
        requests: *mut feros_requests,
        seq: u64,
        first: u32,
        last: u32,
        now: i64,
    ) -> bool;
    pub fn feros_requests_wait(
        requests: *const feros_requests,
        next_seq: u64,
        now: i64,
        least: i64,
    ) -> i64;
}

unsafe extern "C" {
    // See `engine/feros_discovery.h`.
    pub fn feros_is_discovery(is_builtin: bool, topic: *const c_char) -> bool;
    pub fn feros_discovery_heartbeat(configured: i64, sent: u32) -> i64;
    pub fn feros_discovery_reminder(reminders: u32, lateness: i64) -> i64;
    pub fn feros_discovery_request(configured: i64, repeats: u32) -> i64;
    pub fn feros_discovery_repeat(configured: i64, repeats: u32) -> i64;
    pub fn feros_discovery_greeting(configured: i64) -> i64;
    pub fn feros_discovery_next_greeting(usual: i64, age: i64) -> i64;
}
