//! What the coordinating process and the processes of the roles say to each other, a line at a
//! time.
//!
//! Out of a role's process come [`Event`]s as JSON; into it goes `go` (publish) and `finish N` (N
//! messages were sent, take what is still on its way and report). The end of its input is the end
//! of the process: so nothing stays behind when the coordinating process is gone, however it went.

use std::io::{BufRead, Write};
use std::time::Duration;

use feros::{Context, Transport};
use serde::{Deserialize, Serialize};

use super::statistics::Summary;
use super::usage::Usage;
use crate::error::CliError;

/// How long a process whose input has ended may take to leave the graph.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);

/// What a role's process tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    /// It has found its counterpart.
    Ready,
    /// The publisher has sent everything.
    Published(Published),
    /// The subscription has received what came.
    Received(Received),
}

/// Messages by the transport that they took, those before the measurement included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ByTransport {
    pub(super) intra_process: u64,
    pub(super) shared_memory: u64,
    pub(super) network: u64,
}

impl ByTransport {
    /// Messages that took this transport.
    pub(super) fn on(self, transport: Transport) -> u64 {
        match transport {
            Transport::IntraProcess => self.intra_process,
            Transport::SharedMemory => self.shared_memory,
            Transport::Network => self.network,
        }
    }

    /// The name of the transport that all took, `mixed` where there were several, `none` where
    /// nothing came.
    pub(super) fn name(self) -> &'static str {
        let mut taken = Transport::ALL.into_iter().filter(|transport| self.on(*transport) > 0);
        match (taken.next(), taken.next()) {
            (None, _) => "none",
            (Some(transport), None) => transport.name(),
            (Some(_), Some(_)) => "mixed",
        }
    }
}

/// What a publisher knows of its measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Published {
    /// Measured messages that it published.
    pub(super) sent: u64,
    /// Messages that an asynchronous publisher dropped because its queue was full.
    pub(super) dropped: u64,
    /// Why the transport was not a shorter one; `None`: there is none.
    pub(super) transport_reason: Option<String>,
    /// How long the call to publish took.
    pub(super) publish_call: Summary,
    /// What the process cost.
    pub(super) usage: Usage,
}

/// What a subscription knows of its measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Received {
    /// Measured messages that arrived, each counted once.
    pub(super) received: u64,
    /// Arrivals of messages that had arrived before.
    pub(super) duplicates: u64,
    /// Messages that arrived after a later one.
    pub(super) reordered: u64,
    /// The ways that messages came.
    pub(super) by_transport: ByTransport,
    /// Time from the first measured message to the last.
    pub(super) seconds: f64,
    /// From the call that publishes to the callback.
    pub(super) latency: Summary,
    /// What the process cost.
    pub(super) usage: Usage,
}

impl Event {
    /// Tells it to the coordinating process.
    pub(super) fn tell(&self) -> Result<(), CliError> {
        let line = serde_json::to_string(self).map_err(CliError::failed)?;
        let mut output = std::io::stdout().lock();
        writeln!(output, "{line}")?;
        Ok(output.flush()?)
    }
}

/// What the coordinating process says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Publish.
    Go,
    /// That many measured messages were sent.
    Finish(u64),
}

impl Order {
    fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            None if line == "go" => Some(Self::Go),
            Some(("finish", count)) => count.parse().ok().map(Self::Finish),
            _ => None,
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Go => f.write_str("go"),
            Self::Finish(count) => write!(f, "finish {count}"),
        }
    }
}

/// Hands each order to `on_order`, on a thread of its own; the end of the input shuts the context
/// down.
pub(super) fn listen(
    context: &Context,
    mut on_order: impl FnMut(Order) + Send + 'static,
) -> Result<(), CliError> {
    listen_to_lines(context, move |line| {
        if let Some(order) = Order::parse(line) {
            on_order(order);
        }
    })
}

/// Hands each line of the input to `on_line`, on a thread of its own; the end of the input shuts
/// the context down.
pub(crate) fn listen_to_lines(
    context: &Context,
    mut on_line: impl FnMut(&str) + Send + 'static,
) -> Result<(), CliError> {
    let context = context.clone();
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            on_line(&line);
        }
        drop(on_line);
        leave(context);
    })?;
    Ok(())
}

/// Ends this process because its coordinator wants that or is gone; in any case, even if something
/// hangs.
fn leave(context: Context) -> ! {
    context.shutdown();
    drop(context);
    std::thread::sleep(LEAVE_LIMIT);
    std::process::exit(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_are_written() {
        for order in [Order::Go, Order::Finish(0), Order::Finish(u64::MAX)] {
            assert_eq!(Order::parse(&order.to_string()), Some(order));
        }
        for line in ["", "gone", "finish", "finish -1", "finish 1 2", "go 1"] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
    }

    #[test]
    fn paths_that_were_taken_have_a_name() {
        let by_transport = |intra_process, shared_memory, network| ByTransport {
            intra_process,
            shared_memory,
            network,
        };
        assert_eq!(by_transport(0, 7, 0).name(), "shared_memory");
        assert_eq!(by_transport(1, 0, 7).name(), "mixed");
        assert_eq!(ByTransport::default().name(), "none");
        assert_eq!(Transport::ALL.map(|transport| by_transport(1, 2, 3).on(transport)), [1, 2, 3]);
    }

    #[test]
    fn events_are_one_line_each() {
        let event = Event::Published(Published {
            sent: 3,
            dropped: 1,
            transport_reason: None,
            publish_call: Summary::default(),
            usage: Usage { cpu_percent: 1.5, threads: 9, pss_bytes: None },
        });
        let line = serde_json::to_string(&event).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        assert_eq!(serde_json::to_string(&Event::Ready).unwrap(), r#"{"event":"ready"}"#);
    }
}
