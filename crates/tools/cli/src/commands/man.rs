//! `feros man`: writes the manual pages of this command and of all its verbs, which have the same
//! source as the help: the definition of the command line.

use std::path::PathBuf;

use clap_mangen::Man;

use crate::error::CliError;
use crate::output;

/// Write the manual pages of this command and its verbs into a folder
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros man ~/.local/share/man/man1\n  feros man /tmp/pages && man -l \
                        /tmp/pages/feros-topic-echo.1"
)]
pub(crate) struct Args {
    /// The folder, which is made if it does not exist
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, command: clap::Command) -> Result<(), CliError> {
    let failed = |path: &std::path::Path, cause| {
        CliError::failed(format!("{} cannot be written: {cause}", path.display()))
    };
    std::fs::create_dir_all(&args.folder).map_err(|cause| failed(&args.folder, cause))?;
    let pages = pages(command)?;
    for page in &pages {
        let file = args.folder.join(format!("{}.1", page.name));
        feros_files::write(&file, &page.text).map_err(|cause| failed(&file, cause))?;
    }
    output::print(&format!("{} pages in {}\n", pages.len(), args.folder.display()))
}

/// One manual page.
pub(super) struct Page {
    /// The words of the verb, joined by hyphens: `feros-topic-echo`.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// The pages of a command and of all verbs that its help shows.
pub(super) fn pages(command: clap::Command) -> Result<Vec<Page>, CliError> {
    let version = command.get_version().unwrap_or_default().to_owned();
    // The page needs no commit and no list of engines.
    let mut command = command.disable_help_subcommand(true).long_version(None);
    command.build();
    let mut pages = Vec::new();
    add_pages(command, &version, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: clap::Command, version: &str, pages: &mut Vec<Page>) -> Result<(), CliError> {
    let verbs: Vec<_> =
        command.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned().collect();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    // A page without a date has its next field at the place of the date, so the version is there.
    let page = Man::new(command).date(format!("feros {version}")).source("Feros");
    let page = page.manual("Commands of Feros");
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push(Page { name, text });
    verbs.into_iter().try_for_each(|verb| add_pages(verb, version, pages))
}
