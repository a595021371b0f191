//! Cyclone DDS 11, built from source with the patch that Feros needs. The bindings are written by
//! hand.
//!
//! Only the items that the Feros engine uses are declared here, so no libclang is needed. Some
//! structs of the public C API are repeated here; when this crate is built, `shim/layout.c`
//! compares them with the originals. Samples, and everything that is private to Cyclone DDS, are
//! accessed only through `shim/feros_shim.h`. Names and meanings are those of `dds.h`.
//!
//! Build scripts of dependent crates find the headers and the library as `DEP_FEROS_DDSC_INCLUDE`,
//! `DEP_FEROS_DDSC_LIB` and `DEP_FEROS_DDSC_SHIM`.
//!
//! # Invariants
//!
//! No private C layout is repeated in Rust. The build edits the sources of Cyclone DDS at anchors,
//! and stops if an anchor is missing (`docs/decisions/0002-cyclone-dds-from-source.md`).
#![allow(missing_docs, reason = "the C headers document these names")]
#![allow(non_camel_case_types, reason = "the names of the C API are kept")]

mod additions;

use std::ffi::{c_char, c_void};

pub use additions::*;

pub type dds_entity_t = i32;
pub type dds_return_t = i32;
pub type dds_time_t = i64;
pub type dds_duration_t = i64;
pub type dds_instance_handle_t = u64;

/// This value means that there is no time limit.
pub const DDS_INFINITY: dds_duration_t = i64::MAX;
pub const DDS_LENGTH_UNLIMITED: i32 = -1;

pub const DDS_RETCODE_OK: dds_return_t = 0;
pub const DDS_RETCODE_BAD_PARAMETER: dds_return_t = -3;
pub const DDS_RETCODE_INCONSISTENT_POLICY: dds_return_t = -8;
pub const DDS_RETCODE_TIMEOUT: dds_return_t = -10;

pub const DDS_DURABILITY_VOLATILE: i32 = 0;
pub const DDS_DURABILITY_TRANSIENT_LOCAL: i32 = 1;
pub const DDS_HISTORY_KEEP_LAST: i32 = 0;
pub const DDS_HISTORY_KEEP_ALL: i32 = 1;
pub const DDS_RELIABILITY_BEST_EFFORT: i32 = 0;
pub const DDS_RELIABILITY_RELIABLE: i32 = 1;
pub const DDS_LIVELINESS_AUTOMATIC: i32 = 0;
pub const DDS_LIVELINESS_MANUAL_BY_TOPIC: i32 = 2;
pub const DDS_IGNORELOCAL_PARTICIPANT: i32 = 1;
pub const DDS_ALIVE_INSTANCE_STATE: u32 = 16;

macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
            _not_send_sync: std::marker::PhantomData<*mut u8>,
        }
    )*};
}
opaque!(dds_qos_t, dds_listener_t, ddsi_sertype, feros_pool, feros_sample);

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct dds_guid_t {
    pub v: [u8; 16],
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct dds_sample_info_t {
    pub sample_state: u32,
    pub view_state: u32,
    pub instance_state: u32,
    pub valid_data: bool,
    pub source_timestamp: dds_time_t,
    pub instance_handle: dds_instance_handle_t,
    pub publication_handle: dds_instance_handle_t,
    pub disposed_generation_count: u32,
    pub no_writers_generation_count: u32,
    pub sample_rank: u32,
    pub generation_rank: u32,
    pub absolute_generation_rank: u32,
}

#[repr(C)]
pub struct dds_builtintopic_participant_t {
    pub key: dds_guid_t,
    pub qos: *mut dds_qos_t,
}

#[repr(C)]
pub struct dds_builtintopic_endpoint_t {
    pub key: dds_guid_t,
    pub participant_key: dds_guid_t,
    pub participant_instance_handle: dds_instance_handle_t,
    pub topic_name: *mut c_char,
    pub type_name: *mut c_char,
    pub qos: *mut dds_qos_t,
}

/// `dds_publication_matched_status_t` and `dds_subscription_matched_status_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct matched_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub current_count: u32,
    pub current_count_change: i32,
    pub last_handle: dds_instance_handle_t,
}

/// `dds_offered_incompatible_qos_status_t` and `dds_requested_incompatible_qos_status_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct incompatible_qos_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub last_policy_id: u32,
}

/// `dds_offered_deadline_missed_status_t` and `dds_requested_deadline_missed_status_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct deadline_missed_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub last_instance_handle: dds_instance_handle_t,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct dds_liveliness_lost_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct dds_liveliness_changed_status_t {
    pub alive_count: u32,
    pub not_alive_count: u32,
    pub alive_count_change: i32,
    pub not_alive_count_change: i32,
    pub last_publication_handle: dds_instance_handle_t,
}

pub type on_data_available_fn = unsafe extern "C" fn(dds_entity_t, *mut c_void);
pub type on_matched_fn = unsafe extern "C" fn(dds_entity_t, matched_status_t, *mut c_void);
pub type on_incompatible_qos_fn =
    unsafe extern "C" fn(dds_entity_t, incompatible_qos_status_t, *mut c_void);
pub type on_deadline_missed_fn =
    unsafe extern "C" fn(dds_entity_t, deadline_missed_status_t, *mut c_void);
pub type on_liveliness_lost_fn =
    unsafe extern "C" fn(dds_entity_t, dds_liveliness_lost_status_t, *mut c_void);
pub type on_liveliness_changed_fn =
    unsafe extern "C" fn(dds_entity_t, dds_liveliness_changed_status_t, *mut c_void);

/// The part of `dds_log_data_t` that is read, which is the message.
#[repr(C)]
pub struct dds_log_data_t {
    pub priority: u32,
    pub domain_id: u32,
    pub file: *const c_char,
    pub line: u32,
    pub function: *const c_char,
    pub message: *const c_char,
    pub size: usize,
    pub header_size: usize,
}
pub type dds_log_write_fn_t = unsafe extern "C" fn(*mut c_void, *const dds_log_data_t);
pub const DDS_LC_FATAL: u32 = 1;
pub const DDS_LC_ERROR: u32 = 2;
pub const DDS_LC_WARNING: u32 = 4;

unsafe extern "C" {
    pub fn dds_strretcode(code: dds_return_t) -> *const c_char;
    pub fn dds_free(memory: *mut c_void);
    pub fn dds_set_log_sink(callback: Option<dds_log_write_fn_t>, arg: *mut c_void);

    pub fn dds_create_domain(domain: u32, config: *const c_char) -> dds_entity_t;
    pub fn dds_create_participant(
        domain: u32,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_create_publisher(
        participant: dds_entity_t,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_create_subscriber(
        participant: dds_entity_t,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_create_writer(
        participant_or_publisher: dds_entity_t,
        topic: dds_entity_t,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_create_reader(
        participant_or_subscriber: dds_entity_t,
        topic: dds_entity_t,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_delete(entity: dds_entity_t) -> dds_return_t;
    pub fn dds_set_qos(entity: dds_entity_t, qos: *const dds_qos_t) -> dds_return_t;
    pub fn dds_get_guid(entity: dds_entity_t, guid: *mut dds_guid_t) -> dds_return_t;

    pub fn dds_create_listener(arg: *mut c_void) -> *mut dds_listener_t;
    pub fn dds_delete_listener(listener: *mut dds_listener_t);
    pub fn dds_lset_data_available(listener: *mut dds_listener_t, f: Option<on_data_available_fn>);
    pub fn dds_lset_publication_matched(listener: *mut dds_listener_t, f: Option<on_matched_fn>);
    pub fn dds_lset_subscription_matched(listener: *mut dds_listener_t, f: Option<on_matched_fn>);
    pub fn dds_lset_offered_incompatible_qos(
        listener: *mut dds_listener_t,
        f: Option<on_incompatible_qos_fn>,
    );
    pub fn dds_lset_requested_incompatible_qos(
        listener: *mut dds_listener_t,
        f: Option<on_incompatible_qos_fn>,
    );
    pub fn dds_lset_offered_deadline_missed(
        listener: *mut dds_listener_t,
        f: Option<on_deadline_missed_fn>,
    );
    pub fn dds_lset_requested_deadline_missed(
        listener: *mut dds_listener_t,
        f: Option<on_deadline_missed_fn>,
    );
    pub fn dds_lset_liveliness_lost(
        listener: *mut dds_listener_t,
        f: Option<on_liveliness_lost_fn>,
    );
    pub fn dds_lset_liveliness_changed(
        listener: *mut dds_listener_t,
        f: Option<on_liveliness_changed_fn>,
    );

    pub fn dds_create_qos() -> *mut dds_qos_t;
    pub fn dds_delete_qos(qos: *mut dds_qos_t);
    pub fn dds_qset_userdata(qos: *mut dds_qos_t, value: *const c_void, size: usize);
    pub fn dds_qset_entity_name(qos: *mut dds_qos_t, name: *const c_char);
    pub fn dds_qset_durability(qos: *mut dds_qos_t, kind: i32);
    pub fn dds_qset_durability_service(
        qos: *mut dds_qos_t,
        cleanup_delay: dds_duration_t,
        history_kind: i32,
        history_depth: i32,
        max_samples: i32,
        max_instances: i32,
        max_samples_per_instance: i32,
    );
    pub fn dds_qset_history(qos: *mut dds_qos_t, kind: i32, depth: i32);
    pub fn dds_qset_resource_limits(
        qos: *mut dds_qos_t,
        max_samples: i32,
        max_instances: i32,
        max_samples_per_instance: i32,
    );
    pub fn dds_qset_reliability(qos: *mut dds_qos_t, kind: i32, max_blocking_time: dds_duration_t);
    pub fn dds_qset_deadline(qos: *mut dds_qos_t, deadline: dds_duration_t);
    pub fn dds_qset_lifespan(qos: *mut dds_qos_t, lifespan: dds_duration_t);
    pub fn dds_qset_liveliness(qos: *mut dds_qos_t, kind: i32, lease: dds_duration_t);
    pub fn dds_qset_writer_data_lifecycle(qos: *mut dds_qos_t, autodispose: bool);
    pub fn dds_qset_ignorelocal(qos: *mut dds_qos_t, kind: i32);
    pub fn dds_qset_data_representation(qos: *mut dds_qos_t, n: u32, values: *const i16);
    pub fn dds_qget_userdata(
        qos: *const dds_qos_t,
        value: *mut *mut c_void,
        size: *mut usize,
    ) -> bool;
    pub fn dds_qget_prop(
        qos: *const dds_qos_t,
        name: *const c_char,
        value: *mut *mut c_char,
    ) -> bool;
    pub fn dds_qget_durability(qos: *const dds_qos_t, kind: *mut i32) -> bool;
    pub fn dds_qget_history(qos: *const dds_qos_t, kind: *mut i32, depth: *mut i32) -> bool;
    pub fn dds_qget_reliability(
        qos: *const dds_qos_t,
        kind: *mut i32,
        max_blocking_time: *mut dds_duration_t,
    ) -> bool;
    pub fn dds_qget_deadline(qos: *const dds_qos_t, deadline: *mut dds_duration_t) -> bool;
    pub fn dds_qget_lifespan(qos: *const dds_qos_t, lifespan: *mut dds_duration_t) -> bool;
    pub fn dds_qget_liveliness(
        qos: *const dds_qos_t,
        kind: *mut i32,
        lease: *mut dds_duration_t,
    ) -> bool;

    pub fn dds_take(
        reader: dds_entity_t,
        samples: *mut *mut c_void,
        info: *mut dds_sample_info_t,
        size: usize,
        max: u32,
    ) -> dds_return_t;
    pub fn dds_return_loan(
        reader: dds_entity_t,
        samples: *mut *mut c_void,
        count: i32,
    ) -> dds_return_t;
    pub fn dds_get_matched_subscriptions(
        writer: dds_entity_t,
        handles: *mut dds_instance_handle_t,
        count: usize,
    ) -> dds_return_t;
    pub fn dds_get_matched_publications(
        reader: dds_entity_t,
        handles: *mut dds_instance_handle_t,
        count: usize,
    ) -> dds_return_t;
    pub fn dds_get_matched_subscription_data(
        writer: dds_entity_t,
        handle: dds_instance_handle_t,
    ) -> *mut dds_builtintopic_endpoint_t;
    pub fn dds_get_matched_publication_data(
        reader: dds_entity_t,
        handle: dds_instance_handle_t,
    ) -> *mut dds_builtintopic_endpoint_t;
    pub fn dds_builtintopic_free_endpoint(endpoint: *mut dds_builtintopic_endpoint_t);
    pub fn dds_wait_for_acks(writer: dds_entity_t, timeout: dds_duration_t) -> dds_return_t;
    pub fn dds_assert_liveliness(entity: dds_entity_t) -> dds_return_t;
}
