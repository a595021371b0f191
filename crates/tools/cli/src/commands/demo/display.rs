//! The output of the demo: a line per message, a colour per process, and the totals at the end.

use std::io::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::conversation::{Conversation, Participant};
use super::discovery::Discovery;
use super::ros2::{Search, VARIABLE};
use crate::error::CliError;
use crate::output::foreign;

fn style(participant: Participant) -> Style {
    let color = match participant {
        Participant::Talker => AnsiColor::Cyan,
        Participant::Listener => AnsiColor::Green,
        Participant::Ros2 => AnsiColor::Magenta,
    };
    color.on_default()
}

fn line(text: &str) -> Result<(), CliError> {
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

/// Prints a line of one process.
pub(super) fn tell(participant: Participant, text: &str) -> Result<(), CliError> {
    let style = style(participant);
    line(&format!("{style}{:>14}{style:#}  {}", participant.node(), foreign(text)))
}

/// Prints a message that was heard.
pub(super) fn heard(
    participant: Participant,
    text: &str,
    latency_us: Option<f64>,
) -> Result<(), CliError> {
    let latency =
        latency_us.map(|latency| format!("  after {}", micros(latency))).unwrap_or_default();
    tell(participant, &format!("heard  {text}{latency}"))
}

fn micros(micros: f64) -> String {
    if micros < 10_000.0 { format!("{micros:.0} us") } else { format!("{:.1} ms", micros / 1000.0) }
}

/// Prints an outline of the demonstration that follows.
pub(super) fn introduce(discovery: &Discovery, count: u64) -> Result<(), CliError> {
    line("A Feros talker and a Feros listener, each in its own process, on the topic /chatter.")?;
    line(&format!("They find each other in {}.", discovery.describe()))?;
    if count == 0 {
        line("Ctrl-C ends the demo.")?;
    }
    Ok(())
}

/// Prints whether stock ROS 2 takes part.
pub(super) fn introduce_ros2(search: &Search) -> Result<(), CliError> {
    let text = match search {
        Search::Found(python) => {
            format!(
                "Stock ROS 2 is installed ({}): one of its nodes talks and listens with them.",
                show(python)
            )
        }
        Search::Missing => format!(
            "No stock ROS 2 was found, so Feros talks to itself. To see it talk with stock ROS 2, run \
             scripts/setup.sh in the repository, or let {VARIABLE} name the folder of one."
        ),
        Search::Wrong(folder) => format!(
            "{VARIABLE} is {}, whose Python is missing or cannot load rclpy and std_msgs (then the reason is \
             above), so Feros talks to itself.",
            show(folder)
        ),
        Search::Interrupted => return Ok(()),
    };
    line(&format!("{text}\n"))
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

/// Prints a summary of the exchanged messages, and how to continue.
pub(super) fn conclude(
    conversation: &Conversation,
    participants: &[Participant],
    discovery: &Discovery,
    endless: bool,
) -> Result<(), CliError> {
    line("\nWhat was exchanged:")?;
    for (talker, listener) in Conversation::pairs(participants) {
        let (said, heard) = (conversation.said(talker), conversation.heard(talker, listener));
        let mean = heard
            .mean_us()
            .map(|mean| format!(", {} on average", micros(mean)))
            .unwrap_or_default();
        let (talker, listener) = (talker.node(), listener.node());
        line(&format!(
            "  {talker:>14} -> {listener:<14}  {} of {said} messages{mean}",
            heard.count
        ))?;
    }
    if conversation.other_node_messages() > 0 {
        line(&format!(
            "  and {} messages from other nodes on /chatter",
            conversation.other_node_messages()
        ))?;
    }
    line("\nHow to continue:")?;
    let prefix = discovery.prefix();
    if endless {
        line(&format!("  {prefix}feros topic list"))?;
        return Ok(());
    }
    line("  feros demo --count 0                  keeps talking; meanwhile, in another terminal:")?;
    line(&format!("  {prefix}feros topic echo /chatter"))?;
    line(&format!("  {prefix}feros topic info -v /chatter"))?;
    line("  feros lab latency sizes=256,64K,1M")
}
