//! The storage that a command line names for a bag. Like rosbag2, Feros then opens the bag only
//! with this storage.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueEnum, value_parser};

use crate::error::CliError;
use crate::nearest::did_you_mean;

/// The storages that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Storage {
    Mcap,
    Sqlite3,
}

impl From<Storage> for feros_bag::Storage {
    fn from(storage: Storage) -> Self {
        match storage {
            Storage::Mcap => Self::Mcap,
            Storage::Sqlite3 => Self::Sqlite3,
        }
    }
}

/// The option for verbs that open one bag.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct StorageArgs {
    /// Storage of the bag; a bag with another storage is refused
    #[arg(short, long, value_name = "STORAGE")]
    storage: Option<Storage>,
}

impl StorageArgs {
    /// The named storage, if any.
    pub(super) fn named(self) -> Option<feros_bag::Storage> {
        self.storage.map(Into::into)
    }
}

/// A bag to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) bag: PathBuf,
    /// The storage that it must have; `None` for any.
    pub(super) storage: Option<feros_bag::Storage>,
}

/// The id of the option `-i`.
pub(super) const INPUT: &str = "input";

/// The option `-i BAG [STORAGE]`, which may be repeated.
#[derive(Clone, Debug)]
pub(super) struct InputArgs(Vec<(PathBuf, Option<OsString>)>);

impl InputArgs {
    /// The bags, in the order of the command line.
    pub(super) fn bags(&self) -> Result<Vec<Input>, CliError> {
        let input = |(bag, storage): &(PathBuf, Option<OsString>)| {
            let storage =
                storage.as_ref().map(|name| named(&name.to_string_lossy())).transpose()?;
            Ok(Input { bag: bag.clone(), storage })
        };
        self.0.iter().map(input).collect()
    }
}

/// The storage of this name.
fn named(name: &str) -> Result<feros_bag::Storage, CliError> {
    Storage::from_str(name, false).map(Into::into).map_err(|_| {
        let known = Storage::value_variants().iter().copied().map(feros_bag::Storage::from);
        let names: Vec<&str> = known.map(feros_bag::Storage::name).collect();
        CliError::usage(format!(
            "--input: the word after a bag names its storage, which is {}, not {name}{}; for another \
             bag, repeat --input",
            names.join(" or "),
            did_you_mean(name, names),
        ))
    })
}

impl clap::Args for InputArgs {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(INPUT)
                .short('i')
                .long(INPUT)
                .value_name("BAG")
                .num_args(1..=2)
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf))
                .help(
                    "Folder of a bag, and optionally its storage, such as `sqlite3`; the bags of \
                     several such options are read as one, in order of time",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for InputArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let occurrences = matches.get_occurrences::<PathBuf>(INPUT).into_iter().flatten();
        let words = occurrences.filter_map(|mut words| {
            Some((words.next()?.clone(), words.next().map(|word| word.clone().into_os_string())))
        });
        Ok(Self(words.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
