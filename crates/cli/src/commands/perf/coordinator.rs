//! Starts the processes of a measurement, tells them when, and puts together what they saw.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::Kind;
use super::family::{Family, Happening, Member};
use super::options::{Options, Role};
use super::protocol::{Event, Order, Published, Received};
use super::report::{self, Measurement};
use super::role::MATCH_LIMIT;
use crate::error::CliError;

/// On top of the time that sending should take: a process that is then not done hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the progress bar moves; only on a terminal.
const TICK: Duration = Duration::from_millis(250);

pub(super) fn run(kind: Kind, options: &Options) -> Result<ExitCode, CliError> {
    let mut measurements = Vec::new();
    for (number, &size_bytes) in options.size_bytes.iter().enumerate() {
        let bar = progress_bar(kind, options, size_bytes);
        let measurement = measure(kind, options, size_bytes, number, &bar);
        bar.finish_and_clear();
        let measurement = measurement?;
        check_path(options, &measurement)?;
        if options.json {
            report::print_json(kind, options, &measurement)?;
        }
        measurements.push(measurement);
    }
    if !options.json {
        report::print_table(kind, options, &measurements)?;
    }
    if measurements.iter().any(|measurement| measurement.received.received == 0) {
        return Err(CliError::failed(
            "no message arrived; `feros doctor` says what may stand in the way",
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked for must be what was measured.
fn check_path(options: &Options, measurement: &Measurement) -> Result<(), CliError> {
    let by_transport = measurement.received.by_transport;
    match options.transport.only() {
        Some(transport)
            if by_transport.on(transport) > 0 && by_transport.name() != transport.name() =>
        {
            Err(CliError::failed(format!(
                "not all messages took the transport {transport}: {} by process, {} by host, {} by network",
                by_transport.intra_process, by_transport.shared_memory, by_transport.network
            )))
        }
        _ => Ok(()),
    }
}

/// Shows the time that passes: it is known without asking those who are measured. On a terminal
/// only.
fn progress_bar(kind: Kind, options: &Options, size_bytes: usize) -> ProgressBar {
    let style = |template: &str| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
    };
    let bar = match options.expected_duration(kind) {
        Some(duration) => ProgressBar::new(duration.as_millis().max(1) as u64)
            .with_style(style("{prefix:>8}  {wide_bar}  {elapsed} of about {msg}")),
        None => {
            ProgressBar::new_spinner().with_style(style("{prefix:>8}  {spinner}  {elapsed} {msg}"))
        }
    };
    let expected =
        options.expected_duration(kind).map(|duration| format!("{} s", duration.as_secs() + 1));
    bar.with_prefix(report::size_in_words(size_bytes)).with_message(expected.unwrap_or_default())
}

pub(super) fn measure(
    kind: Kind,
    options: &Options,
    size_bytes: usize,
    number: usize,
    bar: &ProgressBar,
) -> Result<Measurement, CliError> {
    let topic = format!("/feros_perf/{}_{}_{number}", kind.word(), std::process::id());
    let mut run = Run { family: Family::new()?, bar, size_bytes };
    let start = |run: &mut Run<'_>, role, name: &str| {
        let line = options.command_line(kind, role, size_bytes, &topic);
        let program = std::env::current_exe().map_err(|error| {
            CliError::failed(format!("this program cannot find itself: {error}"))
        })?;
        let started = run.family.start(name, Command::new(program).args(line));
        started.map_err(|error| {
            CliError::failed(format!("the process of the {name} cannot be started: {error}"))
        })
    };
    if options.processes() == 1 {
        let both = start(&mut run, Role::Both, "publisher and subscription")?;
        run.expect_ready(&[both])?;
        run.family.tell(both, &Order::Go);
        let published = run.expect_published(options.expected_duration(kind))?;
        let received = run.expect_received()?;
        return run.end(published, received);
    }
    let subscription = start(&mut run, Role::Subscription, "subscription")?;
    let publisher = start(&mut run, Role::Publisher, "publisher")?;
    run.expect_ready(&[subscription, publisher])?;
    run.family.tell(publisher, &Order::Go);
    let published = run.expect_published(options.expected_duration(kind))?;
    run.family.tell(subscription, &Order::Finish(published.sent));
    let received = run.expect_received()?;
    run.end(published, received)
}

/// The processes of one measurement.
struct Run<'a> {
    family: Family,
    bar: &'a ProgressBar,
    size_bytes: usize,
}

impl Run<'_> {
    /// The next event of any process, before `deadline`; `what` names what is missing otherwise.
    fn next_event(&self, deadline: Instant, what: &str) -> Result<(Member, Event), CliError> {
        loop {
            // Without a terminal nothing moves here, so that this process sleeps while others are
            // measured.
            let until =
                if self.bar.is_hidden() { deadline } else { deadline.min(Instant::now() + TICK) };
            match self.family.next(until) {
                Happening::Line(member, line) => match serde_json::from_str(&line) {
                    Ok(event) => return Ok((member, event)),
                    Err(error) => {
                        let name = self.family.name(member);
                        return Err(CliError::failed(format!("the {name} said {line:?}: {error}")));
                    }
                },
                Happening::Ended(member) => {
                    let name = self.family.name(member);
                    return Err(CliError::failed(format!(
                        "the process of the {name} ended before {what}; what it said stands above"
                    )));
                }
                Happening::Interrupted => return Err(CliError::Interrupted),
                Happening::Timeout if Instant::now() >= deadline => {
                    return Err(CliError::failed(format!(
                        "{what} did not come in time; the processes were ended"
                    )));
                }
                Happening::Timeout => self.bar.set_position(self.bar.elapsed().as_millis() as u64),
            }
        }
    }

    fn expect_ready(&self, members: &[Member]) -> Result<(), CliError> {
        let deadline = Instant::now() + MATCH_LIMIT + PATIENCE;
        let mut missing = members.to_vec();
        while !missing.is_empty() {
            if let (member, Event::Ready) =
                self.next_event(deadline, "publisher and subscription met")?
            {
                missing.retain(|other| *other != member);
            }
        }
        self.bar.reset_elapsed();
        Ok(())
    }

    fn expect_published(&self, expected: Option<Duration>) -> Result<Published, CliError> {
        // Where answers set the pace, nobody knows how long it takes: a second a message is the
        // most.
        let deadline = Instant::now()
            + expected.map_or(Duration::from_secs(3600), |expected| expected * 3)
            + PATIENCE;
        loop {
            if let (_, Event::Published(published)) =
                self.next_event(deadline, "the end of publishing")?
            {
                return Ok(published);
            }
        }
    }

    fn expect_received(&self) -> Result<Received, CliError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let (_, Event::Received(received)) =
                self.next_event(deadline, "the report of the subscription")?
            {
                return Ok(received);
            }
        }
    }

    fn end(mut self, published: Published, received: Received) -> Result<Measurement, CliError> {
        self.family.end_all();
        Ok(Measurement { size_bytes: self.size_bytes, published, received })
    }
}
