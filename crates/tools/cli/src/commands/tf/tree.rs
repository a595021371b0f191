//! `feros tf tree`: the frames with their parents, publishers and rates, as in `view_frames` of
//! tf2.

use std::time::Duration;

use feros_tf2::{Buffer, TransformListener};
use feros_wording::{duration, within};
use serde_json::json;

use super::graph::{self, Frames};
use crate::commands::topic::watch::{self, End};
use crate::connection::Connection;
use crate::error::CliError;
use crate::value_parsers::parse_seconds;
use crate::{notices, output};

/// Listen to transforms for some seconds, and print the trees of frames
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros tf tree\n  feros tf tree --dot | dot -Tpdf -o frames.pdf"
)]
pub(crate) struct Args {
    /// How long to listen
    #[arg(
        short = 't',
        long,
        value_name = "SECONDS",
        default_value = "5",
        value_parser = parse_seconds
    )]
    wait_time: Duration,
    /// Print a graph for Graphviz
    #[arg(long, conflicts_with_all = ["yaml", "json"])]
    dot: bool,
    /// Print YAML, like allFramesAsYAML of tf2
    #[arg(long, conflicts_with = "json")]
    yaml: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Use the simulated time of /clock
    #[arg(short = 's', long)]
    use_sim_time: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open_as(None, args.use_sim_time)?;
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&connection.node, &buffer)?;
    notices::note(format!("Listening to /tf for {} ...", duration(args.wait_time)));
    if watch::spin(&connection.node, Some(args.wait_time), || false)? == End::Interrupted {
        return Err(CliError::Interrupted);
    }
    let (frames, now) = (buffer.frames(), connection.node.clock().now());
    let refused = buffer.counts().refused;
    if refused.total() > 0 {
        notices::warn(refused);
    }
    if frames.is_empty() {
        return Err(CliError::failed(format!(
            "no transform came on /tf or /tf_static {}: `feros topic info -v /tf` lists the \
             publishers",
            within(args.wait_time)
        )));
    }
    if args.json {
        output::print_json(&object(&frames))
    } else if args.yaml {
        output::print(&buffer.all_frames_as_yaml(now))
    } else if args.dot {
        output::print(&graph::dot(&frames, now))
    } else {
        output::print(&graph::text(&frames, now))
    }
}

fn object(frames: &Frames) -> serde_json::Value {
    let object = |frame: &feros_tf2::FrameInfo| {
        json!({
            "parent": frame.parent, "static": frame.is_static, "authority": frame.authority,
            "rate_hz": frame.rate_hz(), "samples": frame.samples,
            "oldest_ns": frame.oldest.as_nanos(), "latest_ns": frame.latest.as_nanos(),
        })
    };
    frames.iter().map(|(name, frame)| (name.clone(), object(frame))).collect()
}
