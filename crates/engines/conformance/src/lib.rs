//! One conformance suite for every Feros engine.
//!
//! Each test is a function of a [`Fixture`], which opens sessions of the engine under test.
//! [`conformance_tests!`] creates a module with a `#[test]` function for each test. An engine may
//! use different transports within a session, between sessions of a process, and across the
//! network. Therefore the same suite runs with both nodes in one session, in two sessions of one
//! process, and across the network.
//!
//! The tests wait for the engine's own notifications. A lost notification therefore makes a test
//! fail, while a test that polls would pass. The only time limit is a watchdog.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `harness` | the sessions and messages of the tests, and helpers that wait |
//! | `endpoints` | the nodes and endpoints of the tests |
//! | `discovery`, `lifecycle` | sessions that find each other, and the creation and the end of endpoints |
//! | `discovery_forms` | the forms of announcements, for engines on DDS only |
//! | `topics`, `services` | messages and calls |
//! | `qos`, `events`, `announcements` | policies, events, announcements and matches |
//!
//! # Invariants
//!
//! No test depends on a particular engine: the session reports which policies its engine supports.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a failed test panics")]

pub mod announcements;
pub mod discovery;
pub mod discovery_forms;
mod endpoints;
pub mod events;
mod harness;
pub mod lifecycle;
pub mod qos;
pub mod services;
pub mod topics;

pub use endpoints::{
    TestClient, TestNode, TestPublisher, TestService, TestSubscription, TestType, matched,
};
pub use harness::{Fixture, NotificationCounter, number_in, numbered, run, text_in, text_message};

/// Creates a module `$name` with a `#[test]` for every test of the suite. `$fixture` is evaluated
/// in each test.
#[macro_export]
macro_rules! conformance_tests {
    ($name:ident, $fixture:expr) => {
        mod $name {
            use super::*;
            $crate::conformance_tests!(@each $fixture,
                discovery: [
                    names_and_types_are_shown, nodes_are_shown_and_withdrawn, graph_changes_are_notified,
                    refused_names, names_outside_ros_conventions, session_facts,
                ],
                announcements: [
                    announcements_are_seen, announcements_change, impossible_announcements_are_refused,
                    matches_follow_their_events, announcements_change_while_others_look,
                ],
                topics: [
                    reliable_messages_arrive_in_order, skipped_messages_count, best_effort_messages_arrive,
                    sizes_are_kept,
                    large_messages_arrive_whole, impossible_sizes_are_refused, aborted_fill_publishes_nothing,
                    message_information, stamps_are_kept_to_the_nanosecond,
                    impossible_stamps_are_refused, local_publications_can_be_ignored, concurrent_publishers,
                    several_subscriptions_receive_each_message, asynchronous_publishing,
                    asynchronous_publishing_counts_drops, readiness_is_never_lost,
                ],
                qos: [
                    request_and_offer_matrix, keep_last_keeps_the_newest, keep_all_keeps_all,
                    transient_local_serves_late_subscriptions, volatile_does_not, lifespan_expires,
                    policies_are_resolved,
                ],
                events: [
                    matches_are_reported, missed_deadlines_are_reported, liveliness_is_reported,
                    incompatible_types_are_reported, acknowledgements_can_be_waited_for,
                    expected_gaps_are_no_losses,
                ],
                services: [
                    calls_are_answered, calls_with_payload_header_are_answered,
                    both_mappings_at_once, large_responses, responses_find_a_client_by_its_endpoint,
                    responses_are_displaced_by_no_others, responses_go_to_their_client,
                    servers_and_clients_announce,
                    availability_is_notified, late_responses_are_accepted, lost_clients_are_reported,
                    lost_requests_are_counted,
                    raw_requests_without_identity_are_answered, truncated_headers_are_refused,
                ],
                lifecycle: [
                    samples_outlive_their_subscription, dropped_endpoints_notify_no_more,
                    endpoints_of_one_type_come_while_others_go,
                    endpoints_come_and_go_without_growth, sessions_come_and_go,
                    a_session_that_is_ending_delivers_and_leaves,
                ]
            );
        }
    };
    (@each $fixture:expr, $($module:ident: [$($test:ident),* $(,)?]),* $(,)?) => {
        $($(
            #[test]
            fn $test() {
                $crate::run(stringify!($test), &$fixture, |fixture| {
                    $crate::$module::$test(fixture);
                });
            }
        )*)*
    };
}
