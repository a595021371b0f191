//! A bridge between the sessions of a test.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;
use std::time::Duration;

use feros_engine::Session;
use feros_engine_bridge::{Bridge, BridgeOptions};
use feros_test_support::Background;

/// Starts a bridge, which a thread keeps up to date until the returned value is dropped.
pub(crate) fn bridging(sides: Vec<(String, Arc<dyn Session>)>) -> Background {
    bridging_with(sides, BridgeOptions::default())
}

/// Starts a bridge with these options, as [`bridging`] does.
pub(crate) fn bridging_with(
    sides: Vec<(String, Arc<dyn Session>)>,
    options: BridgeOptions,
) -> Background {
    let mut bridge = Bridge::new(sides, options).unwrap();
    let waker = bridge.waker();
    let stop = Arc::new(feros_sync::AtomicBool::new(false));
    let stopped = stop.clone();
    let work = move || {
        while !stopped.load(feros_sync::Ordering::Acquire) {
            bridge.update();
            bridge.wait_for_change(Duration::from_millis(100));
        }
    };
    Background::start("bridge", work, move || {
        stop.store(true, feros_sync::Ordering::Release);
        waker.wake();
    })
}
