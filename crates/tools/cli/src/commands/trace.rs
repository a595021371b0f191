//! `feros trace`: where the time of messages goes, layer by layer, in unmodified programs.

mod export;
mod read;
mod run;
mod summarize;
mod table;

use crate::error::CliError;

/// The verbs of `feros trace`.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Run a command with its trace points on, then show where the time went
    ///
    /// Processes that it starts are traced too. Any other program is traced with FEROS_TRACE=FOLDER
    /// in its environment.
    Run(run::Args),
    /// Show how long the messages of each topic and transport took in each layer
    Summarize(summarize::Args),
    /// Write a trace in a form that other tools open
    Export(export::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Summarize(args) => summarize::run(&args),
        Command::Export(args) => export::run(&args),
    }
}
