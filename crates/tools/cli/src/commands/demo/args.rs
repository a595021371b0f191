//! Options of `feros demo`.

use clap::ValueEnum;

/// The arguments of the verb.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Messages that each talker publishes; 0 continues until Ctrl-C
    #[arg(long, default_value_t = 5)]
    pub(super) count: u64,

    /// Messages per second of each talker
    #[arg(long, value_name = "HZ", default_value_t = 2.0, value_parser = parse_rate)]
    pub(super) rate_hz: f64,

    /// Leave stock ROS 2 out, even if it is installed
    #[arg(long)]
    pub(super) without_ros2: bool,

    /// The role of this process in the demo; set by the coordinator.
    #[arg(long, hide = true, value_enum)]
    pub(super) role: Option<Role>,
}

/// The role of this process in the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
    /// It publishes.
    Talker,
    /// It subscribes.
    Listener,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.1..=1000.0).contains(rate));
    rate.ok_or("it takes a rate from 0.1 to 1000".to_owned())
}
