//! The statuses that an updater publishes on `/diagnostics`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use feros::diagnostics::{
    DiagnosticUpdater, FrequencyBounds, FrequencyStatus, TimeStampBounds, TimeStampStatus,
    heartbeat,
};
use feros::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use feros::{Node, NodeOptions, Subscription};

use crate::support::{WATCHDOG, context, spinning_node};

/// Subscribes to the statuses of a node's tasks.
fn listen(
    node: &Node,
    prefix: &'static str,
) -> (Subscription<DiagnosticArray>, Receiver<DiagnosticStatus>) {
    let (sender, receiver) = sync_channel(256);
    let subscription = node
        .create_subscription("/diagnostics", 100, move |array: DiagnosticArray| {
            assert!(array.header.stamp.sec > 0);
            for status in array.status.into_iter().filter(|status| status.name.starts_with(prefix))
            {
                let _ = sender.try_send(status);
            }
        })
        .unwrap();
    (subscription, receiver)
}

fn until(
    receiver: &Receiver<DiagnosticStatus>,
    wanted: impl Fn(&DiagnosticStatus) -> bool,
) -> DiagnosticStatus {
    loop {
        let status = receiver.recv_timeout(WATCHDOG).unwrap();
        if wanted(&status) {
            return status;
        }
    }
}

#[test]
fn tasks_are_asked_periodically_and_on_demand() {
    let (here, there) = (context(), context());
    let listener = there.create_node("listener").unwrap();
    let (subscription, heard) = listen(&listener, "lidar: ");
    let options =
        NodeOptions::new("lidar").parameter_overrides([("diagnostic_updater.period", 0.02)]);
    let node = here.create_node_with(options).unwrap();
    let updater = DiagnosticUpdater::new(&node).unwrap();
    assert!(DiagnosticUpdater::new(&node).is_err(), "one is enough");
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    let _spinning = (spinning_node(&node), spinning_node(&listener));
    updater.set_hardware_id("4711");
    let asked = Arc::new(AtomicU64::new(0));
    let count = asked.clone();
    updater.add("motor", move |status| {
        status.set_summary(DiagnosticStatus::WARN, "slow");
        status.add("asked", count.fetch_add(1, Ordering::Relaxed));
    });
    updater.add("silent", |_| ());
    let motor = until(&heard, |status| status.message == "slow");
    assert_eq!((motor.name.as_str(), motor.level), ("lidar: motor", DiagnosticStatus::WARN));
    assert_eq!((motor.hardware_id.as_str(), motor.values[0].key.as_str()), ("4711", "asked"));
    let silent = until(&heard, |s| s.name == "lidar: silent" && s.message != "Node starting up");
    assert_eq!(silent.level, DiagnosticStatus::ERROR);
    assert_eq!(silent.message, "No message was set");

    let scans = FrequencyStatus::new(node.clock(), FrequencyBounds::between(0.0, f64::INFINITY));
    updater.add("scans", scans.task());
    let none = until(&heard, |s| s.name == "lidar: scans" && s.message != "Node starting up");
    assert_eq!(none.message, "No events recorded.");
    scans.tick();
    let met = until(&heard, |status| status.message == "Desired frequency met");
    assert_eq!(
        (met.values[1].key.as_str(), met.values[1].value.as_str()),
        ("Events since startup", "1")
    );

    updater.add("heartbeat", heartbeat);
    let alive = until(&heard, |status| status.message == "Alive");
    assert_eq!((alive.name.as_str(), alive.level), ("lidar: heartbeat", DiagnosticStatus::OK));
    let stamps = TimeStampStatus::new(node.clock(), TimeStampBounds::default());
    updater.add("stamps", stamps.task());
    until(&heard, |status| status.message == "No data since last update.");
    stamps.tick(&node.header("lidar").stamp);
    until(&heard, |status| status.message == "Timestamps are reasonable.");

    assert!(updater.remove("motor") && !updater.remove("motor"));
    let before = asked.load(Ordering::Relaxed);
    updater.broadcast(DiagnosticStatus::OK, "bye");
    until(&heard, |status| status.name == "lidar: scans" && status.message == "bye");
    updater.force_update();
    assert_eq!(asked.load(Ordering::Relaxed), before);
}
