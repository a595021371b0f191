//! `feros bag`: records, plays, inspects and converts bags, with the verbs of `ros2 bag`.

mod accepted;
mod compression_args;
mod convert;
mod info;
mod keys;
mod missing;
mod new_bags;
mod play;
mod record;
mod reindex;
mod selection_args;
mod slice;
mod storage_args;
mod summary;
mod time_text;

use std::path::Path;

use feros_bag::{BagReader, BagTopic, Interrupt, ReadError, ReaderOptions, Schema, Storage};

use self::storage_args::Input;
use crate::error::CliError;
use crate::notices;
use crate::types::{InterfaceArgs, Types};

/// The verbs of `feros bag`.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Record(Box<record::Args>),
    Play(Box<play::Args>),
    Info(info::Args),
    Convert(Box<convert::Args>),
    Reindex(reindex::Args),
    Slice(Box<slice::Args>),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    match command {
        Command::Record(args) => record::run(&args, interfaces),
        Command::Play(args) => play::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Convert(args) => convert::run(&args, interfaces),
        Command::Reindex(args) => reindex::run(&args),
        Command::Slice(args) => slice::run(&args, interfaces),
    }
}

/// Opens a bag, and warns of its faults. If a storage is named, the bag must have it. An interrupt
/// ends the opening, and later the reading.
fn open(
    path: &Path,
    storage: Option<Storage>,
    interrupt: Interrupt,
) -> Result<BagReader, CliError> {
    let options = ReaderOptions { storage, interrupt, ..ReaderOptions::default() };
    let bag = BagReader::open_with(path, &options).map_err(|error| match error {
        ReadError::Interrupted { .. } => CliError::Interrupted,
        error => error.into(),
    })?;
    bag.warnings().iter().for_each(notices::warn);
    Ok(bag)
}

/// Opens several bags, like [`open`].
fn open_all(inputs: &[Input], interrupt: &Interrupt) -> Result<Vec<BagReader>, CliError> {
    inputs.iter().map(|input| open(&input.bag, input.storage, interrupt.clone())).collect()
}

/// Returns the topic; if the bag lacks the definition of its type, this machine's definition is
/// added.
fn completed(topic: &BagTopic, types: &Types) -> BagTopic {
    let mut topic = topic.clone();
    if topic.schema.encoding.is_empty()
        && let Ok(ty) = types.message(&topic.metadata.type_name)
    {
        let known = ty.type_hash().to_string();
        let set = types.set_with(&topic.metadata.type_name);
        let hash = &mut topic.metadata.type_description_hash;
        if *hash == known || (hash.is_empty() && types.certain().contains(ty.name())) {
            topic.schema = Schema::of_interface(set, ty.name()).unwrap_or_default();
            *hash = known;
        }
    }
    topic
}

/// Reads the profiles of `--qos-profile-overrides-path`.
fn read_qos_overrides(
    path: Option<&Path>,
) -> Result<std::collections::BTreeMap<String, feros::QosProfile>, CliError> {
    let Some(path) = path else { return Ok(Default::default()) };
    let text = read_text(path)?;
    feros_bag::read_overrides(&text)
        .map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}

/// Reads a file of options.
fn read_text(path: &Path) -> Result<String, CliError> {
    /// The limit on the bytes of a file of options.
    const MOST: u64 = 16 << 20;
    feros_files::read_to_string(path, MOST)
        .map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}
