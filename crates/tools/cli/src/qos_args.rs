//! The options `--qos-*` of publishers and subscriptions.

use std::time::Duration;

use clap::ValueEnum;
use feros::{Durability, History, Liveliness, QosProfile, Reliability};

use crate::value_parsers::parse_seconds;

/// Policies that replace the policies of the verb's own profile.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Quality of service")]
pub(crate) struct QosArgs {
    /// The profile to begin with
    #[arg(long, value_name = "PROFILE")]
    qos_profile: Option<Profile>,
    /// Number of messages to keep
    #[arg(long, value_name = "N")]
    qos_depth: Option<usize>,
    /// keep_last, keep_all or system_default
    #[arg(long, value_name = "POLICY")]
    qos_history: Option<History>,
    /// reliable, best_effort, best_available or system_default
    #[arg(long, value_name = "POLICY")]
    qos_reliability: Option<Reliability>,
    /// volatile, transient_local, best_available or system_default
    #[arg(long, value_name = "POLICY")]
    qos_durability: Option<Durability>,
    /// automatic, manual_by_topic, best_available or system_default
    #[arg(long, value_name = "POLICY")]
    qos_liveliness: Option<Liveliness>,
    /// Seconds after which a publisher that has not asserted its liveliness counts as gone
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    qos_liveliness_lease_duration_seconds: Option<Duration>,
}

/// A profile of stock ROS 2.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Profile {
    /// Keep last 10, reliable, volatile
    Default,
    /// Keep last 5, best effort
    SensorData,
    /// Keep last 10, reliable
    ServicesDefault,
    /// Keep last 1000, reliable
    Parameters,
    /// Keep last 1000, reliable
    ParameterEvents,
    /// Keep last 1000, transient local
    RosoutDefault,
    /// Keep last 1, transient local
    ActionStatusDefault,
    /// The defaults of the engine, for all policies
    SystemDefault,
    /// The policies that match the most endpoints
    BestAvailable,
}

impl Profile {
    fn qos(self) -> QosProfile {
        match self {
            Self::Default => QosProfile::default(),
            Self::SensorData => QosProfile::sensor_data(),
            Self::ServicesDefault => QosProfile::services_default(),
            Self::Parameters => QosProfile::parameters(),
            Self::ParameterEvents => QosProfile::parameter_events(),
            Self::RosoutDefault => QosProfile::rosout_default(),
            Self::ActionStatusDefault => QosProfile::action_status_default(),
            Self::SystemDefault => QosProfile::system_default(),
            Self::BestAvailable => QosProfile::best_available(),
        }
    }
}

impl QosArgs {
    /// The verb's own profile, with the user's policies in place of its own.
    pub(crate) fn over(&self, own: QosProfile) -> QosProfile {
        let mut qos = self.qos_profile.map_or(own, Profile::qos);
        qos.depth = self.qos_depth.unwrap_or(qos.depth);
        qos.history = self.qos_history.unwrap_or(qos.history);
        qos.reliability = self.qos_reliability.unwrap_or(qos.reliability);
        qos.durability = self.qos_durability.unwrap_or(qos.durability);
        qos.liveliness = self.qos_liveliness.unwrap_or(qos.liveliness);
        if let Some(lease) = self.qos_liveliness_lease_duration_seconds {
            qos.liveliness_lease_duration = lease.into();
        }
        qos
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros::QosPolicy;

    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        qos: QosArgs,
    }

    fn over(line: &[&str]) -> QosProfile {
        Line::try_parse_from([&["x"], line].concat())
            .unwrap()
            .qos
            .over(QosProfile::best_available())
    }

    #[test]
    fn single_policies_replace_those_of_the_profile() {
        assert_eq!(over(&[]), QosProfile::best_available());
        let qos = over(&[
            "--qos-profile",
            "sensor_data",
            "--qos-reliability",
            "reliable",
            "--qos-depth",
            "7",
        ]);
        assert_eq!(qos, QosProfile::keep_last(7));
        let qos = over(&["--qos-durability", "transient_local"]);
        assert_eq!(qos, QosProfile::best_available().transient_local());
        let qos = over(&[
            "--qos-liveliness",
            "manual_by_topic",
            "--qos-liveliness-lease-duration-seconds",
            "0.5",
        ]);
        assert_eq!(qos.liveliness_lease_duration.finite(), Some(Duration::from_millis(500)));
    }

    /// The `ros2` command also has options for these policies only.
    #[test]
    fn the_command_line_has_the_policies_of_ros2() {
        let command = <Line as clap::CommandFactory>::command();
        let has_option = |policy: &QosPolicy| {
            let name = format!("qos_{}", policy.name());
            command.get_arguments().any(|argument| argument.get_id().as_str().starts_with(&name))
        };
        let lacking: Vec<_> =
            QosPolicy::ALL.into_iter().filter(|policy| !has_option(policy)).collect();
        let expected =
            [QosPolicy::Deadline, QosPolicy::Lifespan, QosPolicy::AvoidRosNamespaceConventions];
        assert_eq!(lacking, expected);
    }

    #[test]
    fn wrong_policies_are_refused_with_the_right_ones() {
        let Err(error) = Line::try_parse_from(["x", "--qos-reliability", "sometimes"]) else {
            panic!()
        };
        assert!(error.to_string().contains("best_effort"), "{error}");
    }
}
