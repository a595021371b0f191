//! `feros top`: topics with their rates, transports and losses, and nodes with their costs, on a
//! screen that is redrawn each second.
//!
//! It subscribes only to the topics that the screen shows.

mod figures;
mod keys;
mod numbers;
mod plain;
mod screen;
mod state;

use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyEventKind};
use feros::Executor;

use self::figures::Watcher;
use self::keys::Command;
pub(in crate::commands) use self::numbers::bytes;
use self::state::State;
use super::topic::watch::{End, spin};
use crate::connection::{Connection, DiscoveryArgs};
use crate::ending;
use crate::error::CliError;
use crate::output;
use crate::value_parsers::parse_count;

/// Watch topics, nodes and their processes on a screen, until q or Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "The command subscribes, with best-effort reliability, only to the topics on the \
                        screen. If standard output is not a terminal, a table of all topics and nodes is printed each second.\n\nKeys: up and down \
                        select, Tab goes from topics to nodes, s sorts by the next column, Enter shows the matches and \
                        their transports, h shows hidden topics, q ends.\n\nExamples:\n  feros top\n  feros top --json -n 1"
)]
pub(crate) struct Args {
    /// Print a JSON object each second; rates per second, times in seconds
    #[arg(long)]
    json: bool,
    /// End after this many seconds
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count)]
    iterations: Option<usize>,
    /// Include hidden topics and nodes
    #[arg(short = 'a', long)]
    all: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

const PERIOD: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    ending::in_peace();
    let connection = Connection::open()?;
    connection.discover_nodes(&args.discovery)?;
    if args.json || !output::is_terminal() {
        run_plain(args, &connection)
    } else {
        run_on_screen(args, &connection)
    }
}

/// Prints everything each second, for pipes.
fn run_plain(args: &Args, connection: &Connection) -> Result<(), CliError> {
    let mut watcher = Watcher::new(connection);
    watcher.look(args.all);
    let mut printed = 0;
    while args.iterations.is_none_or(|wanted| printed < wanted) {
        watcher.listen_to_all();
        if spin(&connection.node, Some(PERIOD), || false)? == End::Interrupted {
            break;
        }
        watcher.look(args.all);
        if args.json {
            output::print_json(&plain::object(&watcher))?;
        } else {
            output::print(&plain::text(&watcher))?;
        }
        printed += 1;
    }
    Ok(())
}

/// Shows a screen with keys, while another thread runs the callbacks of the subscriptions.
fn run_on_screen(args: &Args, connection: &Connection) -> Result<(), CliError> {
    let executor = Executor::new();
    executor.add_node(&connection.node)?;
    let stopper = executor.stopper();
    std::thread::scope(|scope| {
        let spinning = std::thread::Builder::new()
            .name("spinning".into())
            .spawn_scoped(scope, || executor.spin())?;
        let mut terminal = ratatui::try_init()?;
        let ended = watch(args, connection, &mut terminal);
        ratatui::restore();
        stopper.stop();
        // A panic there was already reported.
        let _ = spinning.join();
        ended
    })
}

fn watch(
    args: &Args,
    connection: &Connection,
    terminal: &mut ratatui::DefaultTerminal,
) -> Result<(), CliError> {
    let mut watcher = Watcher::new(connection);
    let mut state = State::new(args.all);
    let mut left = args.iterations;
    let mut next = Instant::now();
    while connection.context.is_ok() {
        if Instant::now() >= next {
            watcher.look(state.shows_hidden());
            state.update(&watcher);
            watcher.listen_to(state.topics_on_screen());
            next += PERIOD;
            if left == Some(0) {
                return Ok(());
            }
            left = left.map(|left| left - 1);
        }
        terminal.draw(|frame| screen::draw(frame, &mut state, &watcher))?;
        let patience = next.saturating_duration_since(Instant::now());
        if !event::poll(patience)? {
            continue;
        }
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
        {
            match keys::command(key) {
                Some(Command::Quit) => return Ok(()),
                Some(command) => state.apply(command, &watcher),
                None => {}
            }
        }
    }
    Ok(())
}
