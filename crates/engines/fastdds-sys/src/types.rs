//! The types of `shim/feros_fastdds.h`. The header describes them.
#![allow(missing_docs, reason = "the header describes them")]

use std::ffi::{c_char, c_void};
use std::marker::{PhantomData, PhantomPinned};

macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub struct $name {
            _data: [u8; 0],
            _marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque!(participant, writer, reader, buffer);

/// The value for a duration without a limit.
pub const INFINITE: i64 = -1;

pub const RETCODE_INCONSISTENT_POLICY: i32 = 8;
pub const RETCODE_OUT_OF_RESOURCES: i32 = 5;
pub const RETCODE_TIMEOUT: i32 = 10;
/// The error code for a new endpoint if its topic has another type in this participant.
pub const OTHER_TYPE: i32 = -1;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct qos {
    pub deadline: i64,
    pub lifespan: i64,
    pub lease: i64,
    pub depth: i32,
    pub reliable: u8,
    pub transient_local: u8,
    pub keep_all: u8,
    pub liveliness: u8,
}

#[repr(C)]
pub struct participant_info {
    pub guid: [u8; 16],
    pub alive: bool,
    pub user_data: *const u8,
    pub user_data_bytes: usize,
    pub vendor: [u8; 2],
    pub version_kind: u8,
    pub version: [u8; 3],
}

/// The kind of version of a participant that names no version.
pub const VERSION_NOT_NAMED: u8 = 1;
/// The kind of version of a participant that names a version.
pub const VERSION_NAMED: u8 = 2;

#[repr(C)]
pub struct endpoint_info {
    pub guid: [u8; 16],
    pub alive: bool,
    pub is_writer: bool,
    pub topic: *const c_char,
    pub type_name: *const c_char,
    pub qos: qos,
    pub user_data: *const u8,
    pub user_data_bytes: usize,
}

pub const DATA: i32 = 0;
pub const MATCHED: i32 = 1;
pub const INCOMPATIBLE_QOS: i32 = 2;
pub const DEADLINE: i32 = 3;
pub const LIVELINESS_LOST: i32 = 4;
pub const LIVELINESS: i32 = 5;

#[repr(C)]
pub struct status {
    pub kind: i32,
    pub total: i32,
    pub change: i32,
    pub guid: [u8; 16],
}

pub type on_participant = unsafe extern "C" fn(*mut c_void, *const participant_info);
pub type on_endpoint = unsafe extern "C" fn(*mut c_void, *const endpoint_info);
pub type on_status = unsafe extern "C" fn(*mut c_void, *const status);
pub type on_log = unsafe extern "C" fn(bool, *const c_char);

#[repr(C)]
pub struct participant_options {
    pub domain_id: u32,
    pub enclave: *const c_char,
    pub user_data: *const c_char,
    pub range: u8,
    pub peers: *const *const c_char,
    pub peers_count: usize,
    pub qos_from_xml: bool,
    pub context: *mut c_void,
    pub on_participant: on_participant,
    pub on_endpoint: on_endpoint,
}

#[repr(C)]
pub struct endpoint_options {
    pub topic: *const c_char,
    pub type_name: *const c_char,
    pub qos: qos,
    pub user_data: *const u8,
    pub user_data_bytes: usize,
    pub publish_mode: u8,
    pub max_blocking: i64,
    pub context: *mut c_void,
    pub on_status: on_status,
}

#[repr(C)]
pub struct sample {
    pub buffer: *mut buffer,
    pub bytes: usize,
    pub writer: [u8; 16],
    pub number: i64,
    pub has_related: bool,
    pub related: [u8; 16],
    pub related_number: i64,
    pub source_stamp: i64,
    pub received_stamp: i64,
}
