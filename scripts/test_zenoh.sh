#!/usr/bin/env bash
# Runs the library's own tests (crates/client/feros/tests/it) on the engine on Zenoh, except the
# tests of guarantees that Zenoh lacks (docs/decisions/0019-zenoh-engine.md). A person runs this
# script by hand, since building Zenoh takes minutes.
#
#   scripts/test_zenoh.sh [ARGUMENTS OF THE TESTS]
set -euo pipefail
cd "$(dirname "$0")/.."
left_out=(
    # A test of a mapping that only DDS has.
    the_payload_header_mapping_has_the_bytes_of_rmw_cyclonedds
    # Zenoh matches all endpoints of the same name and type.
    incompatible_qos_is_an_event_on_both_sides
    # A callback of Zenoh cannot wait for a full subscription, since other subscriptions receive
    # over the same link.
    a_keep_all_subscription_of_this_process_is_bounded_on_the_network_too
    # A full link drops messages of a publisher that does not keep all, as with rmw_zenoh.
    strangers_come_and_go_and_nothing_is_lost_or_doubled
    # A subscription may get a message that was on its way to an earlier subscription of the same
    # session.
    the_change_loses_nothing_of_several_threads_that_publish
)
# The peers find each other by multicast on a free port, without a router.
port="$(python3 -c 'import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
export FEROS_ENGINE=zenoh ZENOH_ROUTER_CHECK_ATTEMPTS=-1
export ZENOH_CONFIG_OVERRIDE="scouting/multicast/enabled=true;scouting/multicast/address=\"224.0.0.224:$port\";listen/endpoints=[\"tcp/127.0.0.1:0\"]"
cargo test --locked -p feros --features zenoh --test it -- "${left_out[@]/#/--skip=}" "$@"
