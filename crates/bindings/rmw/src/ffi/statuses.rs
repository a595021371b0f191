//! The structures that `rmw_take_event` fills, and the kinds of event with their numbers since
//! Kilted, which `Distribution::event_kind` finds from the numbers of the host program.

pub(crate) const RMW_EVENT_INVALID: u32 = 0;
pub(crate) const RMW_EVENT_LIVELINESS_CHANGED: u32 = 1;
pub(crate) const RMW_EVENT_REQUESTED_DEADLINE_MISSED: u32 = 2;
pub(crate) const RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE: u32 = 3;
pub(crate) const RMW_EVENT_MESSAGE_LOST: u32 = 4;
pub(crate) const RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE: u32 = 5;
pub(crate) const RMW_EVENT_SUBSCRIPTION_MATCHED: u32 = 6;
pub(crate) const RMW_EVENT_LIVELINESS_LOST: u32 = 7;
pub(crate) const RMW_EVENT_OFFERED_DEADLINE_MISSED: u32 = 8;
pub(crate) const RMW_EVENT_OFFERED_QOS_INCOMPATIBLE: u32 = 9;
pub(crate) const RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE: u32 = 10;
pub(crate) const RMW_EVENT_PUBLICATION_MATCHED: u32 = 11;

pub(crate) const RMW_QOS_POLICY_INVALID: u32 = 1 << 0;
pub(crate) const RMW_QOS_POLICY_DURABILITY: u32 = 1 << 1;
pub(crate) const RMW_QOS_POLICY_DEADLINE: u32 = 1 << 2;
pub(crate) const RMW_QOS_POLICY_LIVELINESS: u32 = 1 << 3;
pub(crate) const RMW_QOS_POLICY_RELIABILITY: u32 = 1 << 4;
pub(crate) const RMW_QOS_POLICY_HISTORY: u32 = 1 << 5;
pub(crate) const RMW_QOS_POLICY_LIFESPAN: u32 = 1 << 6;

/// Matches of an endpoint.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_matched_status_t {
    pub(crate) total_count: usize,
    pub(crate) total_count_change: usize,
    pub(crate) current_count: usize,
    pub(crate) current_count_change: i32,
}

/// Messages that did not arrive.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_message_lost_status_t {
    pub(crate) total_count: usize,
    pub(crate) total_count_change: usize,
}

/// The numbers of publishers that are alive and that are not alive.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_liveliness_changed_status_t {
    pub(crate) alive_count: i32,
    pub(crate) not_alive_count: i32,
    pub(crate) alive_count_change: i32,
    pub(crate) not_alive_count_change: i32,
}

/// Endpoints with incompatible policies.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_qos_incompatible_event_status_t {
    pub(crate) total_count: i32,
    pub(crate) total_count_change: i32,
    pub(crate) last_policy_kind: u32,
}

/// A count and its change: missed deadlines, lost liveliness, incompatible types.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_counted_status_t {
    pub(crate) total_count: i32,
    pub(crate) total_count_change: i32,
}
