//! Makes new bags out of bags, for `convert` and `slice`: all of them or none, since a part of a
//! bag looks like a whole one, and would be in the way of the next attempt.

use std::path::{Path, PathBuf};

use feros_bag::{
    BagReader, BagWriter, CopyError, Interrupt, MessageFilter, OutputBag, ReadError, WriteError,
    copy,
};

use super::missing::warn_of_missing;
use crate::error::CliError;
use crate::types::{InterfaceArgs, Types};
use crate::{notices, output};

/// Makes these bags, and prints the number of messages of each. After an error or an interrupt, it
/// removes those that it began.
pub(super) fn make(
    bags: &[BagReader],
    wanted: Vec<OutputBag>,
    interfaces: &InterfaceArgs,
) -> Result<(), CliError> {
    refuse_taken_folders(&wanted)?;
    let types = Types::load(interfaces)?;
    let mut made = Vec::new();
    let mut lines = Vec::new();
    for one in wanted {
        let folder = one.uri.display().to_string();
        match write(bags, one, &types, &mut made) {
            Ok(copied) => lines.push(format!("{folder}: {copied} messages")),
            Err(error) => return Err(ended_early(&error, made)),
        }
    }
    output::print_lines(lines)
}

/// Opens bags to copy from with `open`, which the first signal ends; says so if it does.
pub(super) fn opened<T>(
    interrupt: Interrupt,
    open: impl FnOnce(Interrupt) -> Result<T, CliError>,
) -> Result<T, CliError> {
    open(interrupt).inspect_err(|error| {
        if matches!(error, CliError::Interrupted) {
            notices::note("interrupted: nothing was written");
        }
    })
}

/// Refuses folders that exist, and those that are named twice, before anything is written.
fn refuse_taken_folders(wanted: &[OutputBag]) -> Result<(), CliError> {
    let mut before: Vec<PathBuf> = Vec::new();
    for OutputBag { uri, .. } in wanted {
        if uri.exists() {
            return Err(WriteError::Exists { path: uri.clone() }.into());
        }
        let whole = comparable(uri);
        if before.contains(&whole) {
            return Err(CliError::usage(format!(
                "two of output_bags have the uri {}: give each bag a folder of its own",
                uri.display()
            )));
        }
        before.push(whole);
    }
    Ok(())
}

/// The folder without `.`, and with its existing part as the system names it.
fn comparable(folder: &Path) -> PathBuf {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    for existing in whole.ancestors() {
        if let (Ok(known), Ok(rest)) = (existing.canonicalize(), whole.strip_prefix(existing)) {
            return known.join(rest);
        }
    }
    whole
}

/// Writes one bag, and adds its writer to `made` once its folder exists.
fn write(
    bags: &[BagReader],
    wanted: OutputBag,
    types: &Types,
    made: &mut Vec<BagWriter>,
) -> Result<u64, CopyError> {
    warn_of_missing(bags, &wanted.selection, []);
    let topics = bags.iter().flat_map(BagReader::topics).map(|topic| &topic.metadata);
    let topics = topics.filter(|topic| wanted.selection.has(&topic.name, &topic.type_name));
    let topics = Some(topics.map(|topic| topic.name.clone()).collect());
    let filter = MessageFilter { start: wanted.start, end: wanted.end, topics };
    let mut writer = BagWriter::create(&wanted.uri, wanted.writer)?;
    let copied = copy(bags, &filter, &mut writer, |topic| super::completed(topic, types));
    let copied = copied.and_then(|copied| Ok(writer.complete().map(|_| copied)?));
    made.push(writer);
    copied
}

/// Removes what was made, and says why and what.
fn ended_early(error: &CopyError, made: Vec<BagWriter>) -> CliError {
    let mut text = cause(error);
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    // A bag may lie in the folder of one before it.
    for writer in made.into_iter().rev() {
        let folder = writer.folder().display().to_string();
        match writer.discard() {
            Ok(()) => removed.insert(0, folder),
            Err(error) => left.push(format!("{folder} cannot be removed: {error}")),
        }
    }
    if !removed.is_empty() {
        text += &format!("; the unfinished output was removed: {}", removed.join(", "));
    }
    left.iter().for_each(|left| text += &format!("; {left}"));
    if matches!(error, CopyError::Read(ReadError::Interrupted { .. })) {
        notices::note(text);
        return CliError::Interrupted;
    }
    CliError::failed(text)
}

/// What ended the copying. Errors of a writer speak of the part that they keep, which is removed
/// here.
fn cause(error: &CopyError) -> String {
    match error {
        CopyError::Read(ReadError::Interrupted { .. }) => "interrupted".to_owned(),
        CopyError::Write(WriteError::DiskFull { path, .. }) => format!(
            "{}: the disk is full: free some space, or name an output on another disk",
            path.display()
        ),
        CopyError::Write(WriteError::Io { path, reason, .. }) => {
            format!("{} cannot be written: {reason}", path.display())
        }
        error => error.to_string(),
    }
}
