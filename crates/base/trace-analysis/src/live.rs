//! The time that messages of running programs spend in each layer. The programs still write the
//! files that this module reads.
//!
//! Programs write periodically if `FEROS_TRACE_PERIOD` is set. [`LiveTrace::look`], called about
//! once a second, reads the new events and joins the messages of all processes. For each pair of
//! publisher and subscription, it returns the times in each layer, for the messages of the last
//! [`WINDOW_LOOKS`] looks. Memory is bounded, whatever the files contain.

mod file;
mod folder;
mod window;

use std::path::Path;

use feros_trace::Transport;

pub use self::file::GrowingFile;
use self::folder::Folder;
pub use self::window::WINDOW_LOOKS;
use self::window::Window;
use crate::summary::{LayerSummary, Percentiles};

/// A folder in which running programs write their traces.
#[derive(Debug)]
pub struct LiveTrace {
    folder: Folder,
    window: Window,
}

/// The results of one look.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveFigures {
    /// The pairs that have had messages lately, by topic.
    pub pairs: Vec<PairLayers>,
    /// The number of programs that have written lately.
    pub programs: usize,
    /// The problems with the folder and its files, to show to people.
    pub problems: Vec<String>,
}

/// The times of one publisher's messages on their way to one subscription.
#[derive(Debug, Clone, PartialEq)]
pub struct PairLayers {
    /// The topic.
    pub topic: String,
    /// The publisher's gid.
    pub publisher: [u8; 16],
    /// The subscription's gid.
    pub subscription: [u8; 16],
    /// The transport of the last message. The times are those of messages on this transport only.
    pub transport: Transport,
    /// The times from the call of `publish` to the call of the callback; their count is the number
    /// of messages.
    pub end_to_end: Percentiles,
    /// The layers that the messages passed, in the order in which messages pass them.
    pub layers: Vec<LayerSummary>,
}

impl LiveTrace {
    /// Makes a reader of this folder, which need not exist yet. It reads nothing before the first
    /// look.
    pub fn new(folder: &Path) -> Self {
        Self { folder: Folder::new(folder), window: Window::default() }
    }

    /// Reads the events since the last look, and returns the results for the wanted topics.
    ///
    /// If a file has grown by much, this reads only its end. A message is complete as soon as two
    /// looks in a row have found no new event of it. So with one look per second, no message of a
    /// program is lost if the program writes at least every two seconds.
    pub fn look(&mut self, wanted: impl Fn(&str) -> bool) -> LiveFigures {
        self.window.begin_look(feros_trace::now_nanos());
        let window = &mut self.window;
        self.folder.look(|event, endpoint| {
            if wanted(&endpoint.topic) {
                window.add(&event, endpoint);
            }
        });
        self.window.join();
        LiveFigures {
            pairs: self.window.pairs(wanted),
            programs: self.folder.programs(),
            problems: self.folder.problems(),
        }
    }
}
