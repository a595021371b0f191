//! Statistics about the messages that a subscription receives.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use feros::msgs::statistics_msgs::msg::MetricsMessage;
use feros::msgs::std_msgs::msg::Int32;
use feros::{QosProfile, SubscriptionOptions, TopicStatisticsOptions};

use crate::support::{WATCHDOG, spinning_node, two_nodes};

#[test]
fn age_and_period_are_published() {
    let (talker, listener) = two_nodes("talker", "listener");
    let statistics = TopicStatisticsOptions {
        period: Duration::from_millis(50),
        topic: "statistics".to_owned(),
        ..TopicStatisticsOptions::default()
    };
    let options = SubscriptionOptions::from(QosProfile::default()).topic_statistics(statistics);
    let _numbers = listener.create_subscription("numbers", options, |_: Int32| ()).unwrap();
    let (sender, heard) = sync_channel(1024);
    let _metrics = talker
        .create_subscription("statistics", 100, move |metrics: MetricsMessage| {
            let _ = sender.try_send(metrics);
        })
        .unwrap();
    let publisher = talker.create_publisher::<Int32>("numbers", 10).unwrap();
    let _timer = talker
        .create_wall_timer(Duration::from_millis(5), move || {
            publisher.publish(Int32 { data: 1 }).unwrap();
        })
        .unwrap();
    let _spinning = (spinning_node(&talker), spinning_node(&listener));
    for name in ["message_age", "message_period"] {
        let metrics = loop {
            let metrics: MetricsMessage = heard.recv_timeout(WATCHDOG).unwrap();
            // The order is average, maximum, minimum, count, deviation.
            if metrics.metrics_source == name && metrics.statistics[3].data > 0.0 {
                break metrics;
            }
        };
        assert_eq!(
            (metrics.measurement_source_name.as_str(), metrics.unit.as_str()),
            ("listener", "ms")
        );
        let [average, greatest, least] = [0, 1, 2].map(|at| metrics.statistics[at].data);
        assert!(least <= average && average <= greatest && greatest < 1e6, "{metrics:?}");
        assert!(metrics.window_stop.to_nanos() > metrics.window_start.to_nanos());
    }
}
