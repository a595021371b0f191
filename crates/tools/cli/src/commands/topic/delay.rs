//! `feros topic delay`: the age of messages at their arrival, from the stamp in their header.

use std::sync::Arc;

use feros_engine::FailureCounter;
use feros_interface::{BaseType, Shape};
use feros_message::dynamic::{DynamicMessage, DynamicType, ValueRef};
use feros_monitor::watching_qos;
use feros_sync::Mutex;
use serde_json::json;

use super::arrival::ArrivalClock;
use super::watch;
use super::window::{Statistics, Window};
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::qos_args::QosArgs;
use crate::types::described;
use crate::types::{InterfaceArgs, Types};
use crate::value_parsers::parse_count;
use crate::{notices, output};

/// Print the age of a topic's messages when they arrive, each second until Ctrl-C
#[derive(clap::Args)]
#[command(mut_arg("use_sim_time", |arg| arg.hide(false).help("Compare with the simulated time of /clock")))]
#[command(
    after_help = "The age is the time of arrival minus header.stamp: between two machines it is only as good as their \
                        clocks.\n\nExample:\n  feros topic delay /camera/image"
)]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Number of messages to average over
    #[arg(short, long, value_name = "N", default_value_t = 10_000, value_parser = parse_count)]
    window: usize,
    /// Print a JSON object each second; times in seconds
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
    #[command(flatten)]
    qos: QosArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let connection = Connection::open_as(None, args.discovery.use_sim_time)?;
    let topic = connection.topic_name(&args.topic)?;
    let identity = watch::find_type(&connection, &args.discovery, &topic, None)?;
    let types = Types::load(interfaces)?;
    let (name, hash) = (&identity.name, identity.hash);
    let ty = described::message_of_topic(&connection, &types, &topic, name, hash)?;
    let stamps = Stamps::of(ty)?;
    let node = &connection.node;
    let delays = Arc::new(Mutex::new((Window::new(args.window), 0_u64)));
    let _subscription =
        node.create_generic_subscription(&topic, &identity, args.qos.over(watching_qos()), {
            let delays = delays.clone();
            let clock = ArrivalClock::new(node, args.discovery.use_sim_time);
            let malformed = FailureCounter::new();
            move |message, info| match stamps.read(&message) {
                Ok(stamp) => {
                    let Some(arrival) = clock.arrival(&info) else { return };
                    let mut delays = delays.lock();
                    delays.0.push(arrival.as_secs_f64() - stamp);
                    delays.1 += 1;
                }
                Err(reason) => {
                    if let Some(malformed) = malformed.count() {
                        notices::warn(format!(
                            "{malformed} messages have been refused so far; the last error: \
                             {reason}"
                        ));
                    }
                }
            }
        })?;
    let json = args.json;
    watch::report_each_second(node, move || {
        let (statistics, fresh) = {
            let mut delays = delays.lock();
            (delays.0.statistics(), std::mem::take(&mut delays.1))
        };
        match statistics {
            Some(_) if fresh == 0 && !json => output::print("no new messages\n"),
            Some(statistics) if fresh > 0 && json => output::print_json(&object(&statistics)),
            Some(statistics) if fresh > 0 => output::print(&text(&statistics)),
            _ => Ok(()),
        }
    })
}

/// The position of the stamps in a type's messages.
enum Stamps {
    /// The stamp is at the beginning, so the rest need not be decoded.
    First,
    /// The stamp comes after other fields.
    Decoded(DynamicType),
}

impl Stamps {
    fn of(ty: DynamicType) -> Result<Self, CliError> {
        let is_header = |field: &feros_message::dynamic::DynamicField| {
            let definition = field.definition();
            let is_type = matches!(&definition.ty.base, BaseType::Nested(name)
                if name.package == "std_msgs" && name.name == "Header");
            field.name() == "header" && is_type && definition.ty.shape == Shape::Single
        };
        match ty.fields().iter().position(is_header) {
            Some(0) => Ok(Self::First),
            Some(_) => Ok(Self::Decoded(ty)),
            None => Err(CliError::failed(format!(
                "{} has no field `header` of type std_msgs/Header, so its messages do not contain the time of their creation",
                ty.name()
            ))),
        }
    }

    /// The stamp in seconds.
    fn read(&self, sample: &[u8]) -> Result<f64, String> {
        let (sec, nanosec) = match self {
            Self::First => first_time(sample).ok_or("the message is too short for a header")?,
            Self::Decoded(ty) => {
                let message = ty.decode(sample).map_err(|error| error.to_string())?;
                stamp_of(&message).ok_or("the message has no stamp")?
            }
        };
        Ok(f64::from(sec) + f64::from(nanosec) * 1e-9)
    }
}

/// The `builtin_interfaces/Time` that a sample begins with.
fn first_time(sample: &[u8]) -> Option<(i32, u32)> {
    let sec = sample.get(4..8)?.try_into().ok()?;
    let nanosec = sample.get(8..12)?.try_into().ok()?;
    match sample.get(..2)? {
        [0, 1] => Some((i32::from_le_bytes(sec), u32::from_le_bytes(nanosec))),
        [0, 0] => Some((i32::from_be_bytes(sec), u32::from_be_bytes(nanosec))),
        _ => None,
    }
}

fn stamp_of(message: &DynamicMessage) -> Option<(i32, u32)> {
    let sec = message.select("header.stamp.sec").ok()?.value();
    let nanosec = message.select("header.stamp.nanosec").ok()?.value();
    match (sec, nanosec) {
        (ValueRef::I32(sec), ValueRef::U32(nanosec)) => Some((sec, nanosec)),
        _ => None,
    }
}

fn object(delays: &Statistics) -> serde_json::Value {
    json!({
        "mean_s": delays.mean, "min_s": delays.min, "max_s": delays.max, "std_dev_s": delays.std_dev,
        "window": delays.count,
    })
}

fn text(delays: &Statistics) -> String {
    format!(
        "average delay: {:.6}\n\tmin: {:.6}s max: {:.6}s std dev: {:.6}s window: {}\n",
        delays.mean, delays.min, delays.max, delays.std_dev, delays.count
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ty(name: &str) -> DynamicType {
        DynamicType::resolve(feros_interface::shipped(), &name.parse().unwrap()).unwrap()
    }

    #[test]
    fn stamps_are_read_without_decoding() {
        let image = ty("sensor_msgs/msg/Image");
        let message =
            DynamicMessage::from_yaml(&image, "{header: {stamp: {sec: -3, nanosec: 500000000}}}")
                .unwrap();
        let stamps = Stamps::of(image).unwrap();
        assert!(matches!(stamps, Stamps::First));
        assert_eq!(stamps.read(&message.to_cdr().unwrap()), Ok(-2.5));
        let big_endian = message.to_cdr_in(feros_cdr::ByteOrder::Big).unwrap();
        assert_eq!(stamps.read(&big_endian), Ok(-2.5));
        assert!(stamps.read(&[0, 1, 0, 0, 1]).is_err());
        assert!(Stamps::of(ty("std_msgs/msg/String")).is_err());
    }
}
