//! `feros tf monitor`: the delays, rates and publishers of transforms, as in `tf2_monitor`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use feros::engine::EndpointKind;
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros::{Clock, Context, Gid, MessageInfo, Time};
use feros_sync::Mutex;
use feros_tf2::{
    Buffer, Refusals, STATIC_TOPIC, TOPIC, TransformListener, dynamic_listener_qos, static_qos,
};
use serde_json::json;

use crate::commands::topic::watch;
use crate::commands::topic::window::{Statistics, Window};
use crate::connection::Connection;
use crate::error::CliError;
use crate::output::{self, foreign};

/// The number of transforms over which delays are averaged, as in `tf2_ros/src/tf2_monitor.cpp`.
const WINDOW: usize = 1000;
/// The limit on the frames, and on the publishers, that are reported.
const MOST: usize = 10_000;

/// Print how often and how late transforms arrive, each second until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "The delay is the time of arrival minus the stamp: between two machines it is only as good as their \
                        clocks.\n\nExamples:\n  feros tf monitor\n  feros tf monitor map base_link"
)]
pub(crate) struct Args {
    /// First frame of the chain to report; by default, all frames
    #[arg(requires = "to")]
    from: Option<String>,
    /// Last frame of the chain
    to: Option<String>,
    /// Print a JSON object each second; times in seconds
    #[arg(long)]
    json: bool,
    /// Use the simulated time of /clock
    #[arg(short = 's', long)]
    use_sim_time: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open_as(None, args.use_sim_time)?;
    let node = &connection.node;
    let buffer = Buffer::new();
    let _listener = TransformListener::new(node, &buffer)?;
    let heard = Arc::new(Mutex::new(Heard::default()));
    let hear = |is_static: bool| {
        let (heard, clock) = (heard.clone(), node.clock().clone());
        move |message: Arc<TFMessage>, info: MessageInfo| {
            heard.lock().hear(&message, info.publisher_gid, clock.now(), is_static);
        }
    };
    let _moving = node.create_subscription(TOPIC, dynamic_listener_qos(), hear(false))?;
    let _fixed = node.create_subscription(STATIC_TOPIC, static_qos(100), hear(true))?;
    let (context, clock, json) = (connection.context.clone(), node.clock().clone(), args.json);
    let ends = args.from.clone().zip(args.to.clone());
    let mut chain = ends.map(|(from, to)| Chain { from, to, delays: Window::new(WINDOW) });
    watch::report_each_second(node, move || {
        let found = chain.as_mut().map(|chain| chain.look(&buffer, &clock)).transpose();
        let refused = buffer.counts().refused;
        let heard = heard.lock();
        let names = Names::of(&context);
        match found {
            Err(missing) => output::print_lines([missing].into_iter().chain(told(refused))),
            Ok(chain) if json => {
                let mut object = heard.object(&names, chain.as_ref());
                object["refused"] = refused.by_reason().collect();
                output::print_json(&object)
            }
            Ok(chain) => {
                let mut text = heard.text(&names, chain.as_ref());
                text.extend(told(refused).map(|refused| format!("\n{refused}\n")));
                output::print(&text)
            }
        }
    })
}

/// Words about transforms that are in no frame's numbers, if there are any.
fn told(refused: Refusals) -> Option<String> {
    (refused.total() > 0).then(|| refused.to_string())
}

/// The chain that the user asked for.
struct Chain {
    from: String,
    to: String,
    delays: Window,
}

/// The current state of a chain.
struct ChainNow {
    frames: Vec<String>,
    delays: Option<Statistics>,
}

impl Chain {
    fn look(&mut self, buffer: &Buffer, clock: &Clock) -> Result<ChainNow, String> {
        let waiting = |error| {
            let (from, to) = (foreign(&self.from), foreign(&self.to));
            format!("Waiting for transform chain between {from} and {to}: {error}")
        };
        let frames = buffer.chain(&self.to, &self.from, Time::ZERO).map_err(waiting)?;
        let latest = buffer.latest_common_time(&self.to, &self.from).map_err(waiting)?;
        if latest != Time::ZERO {
            self.delays.push(delay(clock.now(), latest.as_nanos()));
        }
        Ok(ChainNow { frames, delays: self.delays.statistics() })
    }
}

/// The names of publishers, as far as they are known.
struct Names(BTreeMap<Gid, String>);

impl Names {
    fn of(context: &Context) -> Self {
        let graph = context.graph();
        let publishers = graph.endpoints.iter().filter(|e| e.kind == EndpointKind::Publisher);
        let named = publishers.filter_map(|e| Some((e.gid, e.node.name()?.to_string())));
        Self(named.collect())
    }

    fn get(&self, gid: Gid) -> String {
        self.0.get(&gid).cloned().unwrap_or_else(|| format!("publisher {gid}"))
    }
}

/// The transforms received so far.
#[derive(Default)]
struct Heard {
    frames: BTreeMap<String, Frame>,
    publishers: BTreeMap<Gid, Publisher>,
}

struct Frame {
    publisher: Gid,
    is_static: bool,
    delays: Window,
}

struct Publisher {
    delays: Window,
    /// The arrival times of messages, in seconds.
    arrivals: Window,
    last: f64,
}

impl Heard {
    fn hear(&mut self, message: &TFMessage, gid: Gid, now: Time, is_static: bool) {
        let mut sum = 0.0;
        for transform in &message.transforms {
            let delay = delay(now, transform.header.stamp.to_nanos());
            sum += delay;
            let name = &transform.child_frame_id;
            if self.frames.len() >= MOST && !self.frames.contains_key(name) {
                continue;
            }
            let new = || Frame { publisher: gid, is_static, delays: Window::new(WINDOW) };
            let frame = self.frames.entry(name.clone()).or_insert_with(new);
            (frame.publisher, frame.is_static) = (gid, is_static);
            frame.delays.push(delay);
        }
        if is_static || self.publishers.len() >= MOST && !self.publishers.contains_key(&gid) {
            return;
        }
        let publisher = self.publishers.entry(gid).or_insert_with(|| Publisher {
            delays: Window::new(WINDOW),
            arrivals: Window::new(WINDOW),
            last: 0.0,
        });
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        publisher.delays.push(sum / message.transforms.len().max(1) as f64);
        publisher.last = delay(now, 0);
        publisher.arrivals.push(publisher.last);
    }

    fn text(&self, names: &Names, chain: Option<&ChainNow>) -> String {
        let mut text = String::new();
        match chain {
            None => text.push_str("\nRESULTS: for all Frames\n"),
            Some(chain) => {
                let frames: Vec<_> = chain.frames.iter().map(|frame| foreign(frame)).collect();
                let _ = writeln!(text, "\nRESULTS: for {}", frames.join(" -> "));
                if let Some(delays) = chain.delays {
                    let (mean, max) = (delays.mean, delays.max);
                    let _ = writeln!(text, "Net delay: average {mean:.6} s, max {max:.6} s");
                }
            }
        }
        text.push_str("\nFrames:\n");
        for (name, frame) in self.frames.iter().filter(|(name, _)| is_wanted(chain, name)) {
            let by = names.get(frame.publisher);
            let (name, by) = (foreign(name), foreign(&by));
            let _ = match frame.delays.statistics() {
                Some(delays) if !frame.is_static => writeln!(
                    text,
                    "Frame: {name}, published by {by}, Average Delay: {:.6}, Max Delay: {:.6}",
                    delays.mean, delays.max
                ),
                _ => writeln!(text, "Frame: {name}, published by {by}, static"),
            };
        }
        text.push_str("\nAll Broadcasters:\n");
        for (gid, publisher) in &self.publishers {
            let name = names.get(*gid);
            let name = foreign(&name);
            let (rate, delays) = (publisher.rate_hz(), publisher.delays.statistics());
            if let Some(delays) = delays {
                let _ = writeln!(
                    text,
                    "Node: {name} {rate:.3} Hz, Average Delay: {:.6} Max Delay: {:.6}",
                    delays.mean, delays.max
                );
            }
        }
        text
    }

    fn object(&self, names: &Names, chain: Option<&ChainNow>) -> serde_json::Value {
        let told = |delays: Option<Statistics>| {
            delays.map(|delays| json!({ "mean_s": delays.mean, "max_s": delays.max }))
        };
        let wanted = self.frames.iter().filter(|(name, _)| is_wanted(chain, name));
        let frames: serde_json::Map<_, _> = wanted
            .map(|(name, frame)| {
                let delay = told(frame.delays.statistics().filter(|_| !frame.is_static));
                let by = names.get(frame.publisher);
                (name.clone(), json!({ "by": by, "static": frame.is_static, "delay": delay }))
            })
            .collect();
        let publishers: Vec<_> = self
            .publishers
            .iter()
            .map(|(gid, publisher)| {
                json!({
                    "node": names.get(*gid), "rate_hz": publisher.rate_hz(),
                    "delay": told(publisher.delays.statistics()),
                })
            })
            .collect();
        let chain =
            chain.map(|chain| json!({ "frames": chain.frames, "delay": told(chain.delays) }));
        json!({ "chain": chain, "frames": frames, "publishers": publishers })
    }
}

impl Publisher {
    /// Messages per second, over the messages of the window.
    fn rate_hz(&self) -> f64 {
        let (Some(first), Some(arrivals)) = (self.arrivals.oldest(), self.arrivals.statistics())
        else {
            return 0.0;
        };
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        let steps = (arrivals.count - 1) as f64;
        if self.last > first { steps / (self.last - first) } else { 0.0 }
    }
}

fn is_wanted(chain: Option<&ChainNow>, name: &str) -> bool {
    chain.is_none_or(|chain| chain.frames.iter().any(|frame| frame == name))
}

/// The time since a moment, in seconds.
fn delay(now: Time, nanos: i64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // microseconds are shown
    let nanos = now.as_nanos().saturating_sub(nanos) as f64;
    nanos * 1e-9
}

#[cfg(test)]
mod tests {
    use feros_tf2::Transform;

    use super::*;

    fn message(child: &str, nanos: i64) -> TFMessage {
        let stamp = Time::from_nanos(nanos);
        TFMessage { transforms: vec![Transform::IDENTITY.to_stamped("map", child, stamp)] }
    }

    #[test]
    fn rates_and_delays_are_told_per_frame_and_publisher() {
        let mut heard = Heard::default();
        let (robot, names) =
            (Gid([1; 16]), Names(BTreeMap::from([(Gid([1; 16]), "/robot".into())])));
        for step in 0..11_i64 {
            let now = Time::from_nanos(1_000_000_000 + step * 100_000_000);
            heard.hear(&message("base", now.as_nanos() - 20_000_000), robot, now, false);
        }
        heard.hear(&message("laser", 0), Gid([2; 16]), Time::from_nanos(5), true);
        let text = heard.text(&names, None);
        let frame =
            "Frame: base, published by /robot, Average Delay: 0.020000, Max Delay: 0.020000\n";
        assert!(text.contains(frame), "{text}");
        assert!(text.contains("Node: /robot 10.000 Hz, Average Delay: 0.020000"), "{text}");
        assert!(text.contains("Frame: laser, published by publisher 02."), "{text}");
        let chain = ChainNow { frames: vec!["laser".into(), "map".into()], delays: None };
        let text = heard.text(&names, Some(&chain));
        assert!(
            text.contains("RESULTS: for laser -> map\n") && !text.contains("Frame: base"),
            "{text}"
        );
        let object = heard.object(&names, None);
        assert_eq!(object["frames"]["base"]["by"], "/robot");
    }
}
