//! Statistics about received messages (their age and the period between them), published like
//! `rclcpp`'s topic statistics.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use feros_engine::{FailureCounter, MessageInfo, QosProfile};
use feros_msgs::statistics_msgs::msg::{MetricsMessage, StatisticDataPoint, StatisticDataType};
use feros_sync::Mutex;

use super::publisher::Publisher;
use crate::callbacks::group::CallbackOptions;
use crate::create_error::CreateError;
use crate::node::Node;
use crate::timer::{NodeTimer, TimerOptions};

/// The options of a subscription's statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicStatisticsOptions {
    /// The length of a window. The statistics of a window are published at its end.
    pub period: Duration,
    /// The topic of the statistics.
    pub topic: String,
    /// The policies of the publisher.
    pub qos: QosProfile,
}

impl Default for TopicStatisticsOptions {
    /// Publishes every second on `/statistics`.
    fn default() -> Self {
        Self {
            period: Duration::from_secs(1),
            topic: "/statistics".to_owned(),
            qos: QosProfile::system_default(),
        }
    }
}

/// Publishes the statistics of one subscription until it is dropped.
pub(crate) struct TopicStatistics {
    _timer: NodeTimer,
}

/// The measurements of one subscription in the current window.
#[derive(Default)]
pub(crate) struct Collector(Mutex<Window>);

#[derive(Default)]
struct Window {
    age: Measurements,
    period: Measurements,
    last_arrival: Option<SystemTime>,
}

/// Statistics over measurements in milliseconds, updated with each measurement.
#[derive(Debug, Clone, Copy, Default)]
struct Measurements {
    count: u64,
    mean: f64,
    /// The sum of squared differences from the mean.
    squares: f64,
    least: f64,
    greatest: f64,
}

impl TopicStatistics {
    /// Starts to publish the collector's statistics.
    pub(crate) fn start(
        node: &Node,
        collector: &Arc<Collector>,
        options: TopicStatisticsOptions,
        callback: &CallbackOptions,
    ) -> Result<Self, CreateError> {
        let publisher: Publisher<MetricsMessage> =
            Publisher::new(node, &options.topic, options.qos.into())?;
        let source = node.name().name().to_owned();
        let collector = collector.clone();
        let mut window_start = SystemTime::now();
        let publish = move || {
            // One counter for all subscriptions, because a process may have hundreds.
            static FAILED: FailureCounter = FailureCounter::new();
            let now = SystemTime::now();
            let (age, period) = collector.take();
            for (name, measurements) in [("message_age", age), ("message_period", period)] {
                let metrics = measurements.to_message(&source, name, window_start, now);
                if let Err(error) = publisher.publish(metrics)
                    && let Some(count) = FAILED.count()
                {
                    tracing::warn!(
                        "{count} topic statistics have not been published so far; the last \
                         error: {error}"
                    );
                }
            }
            window_start = now;
        };
        let timer =
            TimerOptions { callback: callback.clone(), ..TimerOptions::wall(options.period) };
        Ok(Self { _timer: NodeTimer::start(node, timer, publish)? })
    }
}

impl Collector {
    /// Records the arrival of a message.
    pub(crate) fn note(&self, info: &MessageInfo) {
        let now = info.received_timestamp.unwrap_or_else(SystemTime::now);
        let mut window = self.0.lock();
        if let Some(sent) = info.source_timestamp {
            window.age.add(milliseconds_since(sent, now));
        }
        if let Some(last) = window.last_arrival.replace(now) {
            window.period.add(milliseconds_since(last, now));
        }
    }

    /// Returns the ages and the periods of the window that ends now, and begins a new window.
    fn take(&self) -> (Measurements, Measurements) {
        let mut window = self.0.lock();
        (std::mem::take(&mut window.age), std::mem::take(&mut window.period))
    }
}

/// Returns the milliseconds between two times. They are negative if the clock was set back, or the
/// clocks of two hosts differ.
fn milliseconds_since(earlier: SystemTime, later: SystemTime) -> f64 {
    match later.duration_since(earlier) {
        Ok(since) => since.as_secs_f64() * 1e3,
        Err(before) => before.duration().as_secs_f64() * -1e3,
    }
}

impl Measurements {
    #[expect(clippy::cast_precision_loss, reason = "statistics for display")]
    fn add(&mut self, milliseconds: f64) {
        (self.least, self.greatest) = match self.count {
            0 => (milliseconds, milliseconds),
            _ => (self.least.min(milliseconds), self.greatest.max(milliseconds)),
        };
        self.count += 1;
        let difference = milliseconds - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (milliseconds - self.mean);
    }

    /// Converts the statistics into a message, like `libstatistics_collector`; without
    /// measurements, the values are NaN.
    #[expect(clippy::cast_precision_loss, reason = "statistics for display")]
    fn to_message(
        self,
        source: &str,
        name: &str,
        start: SystemTime,
        stop: SystemTime,
    ) -> MetricsMessage {
        let known = |value: f64| if self.count == 0 { f64::NAN } else { value };
        let deviation = (self.squares / self.count as f64).sqrt();
        let points = [
            (StatisticDataType::STATISTICS_DATA_TYPE_AVERAGE, known(self.mean)),
            (StatisticDataType::STATISTICS_DATA_TYPE_MAXIMUM, known(self.greatest)),
            (StatisticDataType::STATISTICS_DATA_TYPE_MINIMUM, known(self.least)),
            (StatisticDataType::STATISTICS_DATA_TYPE_SAMPLE_COUNT, self.count as f64),
            (StatisticDataType::STATISTICS_DATA_TYPE_STDDEV, known(deviation)),
        ];
        let statistics =
            points.map(|(data_type, data)| StatisticDataPoint { data_type, data }).to_vec();
        MetricsMessage {
            measurement_source_name: source.to_owned(),
            metrics_source: name.to_owned(),
            unit: "ms".to_owned(),
            window_start: start.into(),
            window_stop: stop.into(),
            statistics,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(measurements: Measurements) -> Vec<f64> {
        let (start, stop) = (SystemTime::UNIX_EPOCH, SystemTime::now());
        let message = measurements.to_message("node", "message_age", start, stop);
        assert_eq!((message.unit.as_str(), message.statistics.len()), ("ms", 5));
        message.statistics.iter().map(|point| point.data).collect()
    }

    #[test]
    fn measurements_are_summed_up() {
        let mut measurements = Measurements::default();
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|ms| measurements.add(ms));
        assert_eq!(data(measurements), [5.0, 9.0, 2.0, 8.0, 2.0]);
        let none = data(Measurements::default());
        assert!(none[0].is_nan() && none[1].is_nan() && none[4].is_nan());
        assert_eq!(none[3], 0.0);
    }

    #[test]
    fn age_and_period_are_of_the_window() {
        let at = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        let info = |sent: Option<u64>, received| MessageInfo {
            source_timestamp: sent.map(at),
            received_timestamp: Some(at(received)),
            publication_sequence_number: None,
            publisher_gid: feros_engine::Gid::default(),
            from_same_session: false,
        };
        let collector = Collector::default();
        collector.note(&info(Some(90), 100));
        collector.note(&info(None, 130));
        collector.note(&info(Some(141), 140));
        let (age, period) = collector.take();
        assert_eq!((age.count, age.greatest.round(), age.least.round()), (2, 10.0, -1.0));
        assert_eq!((period.count, period.mean.round()), (2, 20.0));
        // The first period of the next window begins with the last message of this window.
        collector.note(&info(None, 150));
        assert_eq!(collector.take().1.count, 1);
    }
}
