//! The layers of programs that run: their files are read along while they grow.
//!
//! Programs write periodically where `FEROS_TRACE_PERIOD` says so. [`LiveTrace::look`], called
//! about once a second, reads what came since the last time, joins the messages of all processes,
//! and says what those of the last [`WINDOW_LOOKS`] looks took in each layer, for each pair of
//! publisher and subscription. What is kept is bounded, whatever the files hold.

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

/// The folder of programs that run and write their traces there.
#[derive(Debug)]
pub struct LiveTrace {
    folder: Folder,
    window: Window,
}

/// What is known at one look.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveFigures {
    /// The pairs that had messages, by topic.
    pub pairs: Vec<PairLayers>,
    /// Programs that have written lately.
    pub programs: usize,
    /// What is wrong with the folder and its files, for people.
    pub problems: Vec<String>,
}

/// What the messages of one publisher took on their way to one subscription.
#[derive(Debug, Clone, PartialEq)]
pub struct PairLayers {
    /// The topic.
    pub topic: String,
    /// The publisher's gid.
    pub publisher: [u8; 16],
    /// The subscription's gid.
    pub subscription: [u8; 16],
    /// The transport that they took last; only messages that took it count.
    pub transport: Transport,
    /// From the call of `publish` to the call of the callback; its count is that of the messages.
    pub end_to_end: Percentiles,
    /// In the order in which messages pass them; only those that they pass.
    pub layers: Vec<LayerSummary>,
}

impl LiveTrace {
    /// Of this folder, which need not be there yet. Nothing is read before the first look.
    pub fn new(folder: &Path) -> Self {
        Self { folder: Folder::new(folder), window: Window::default() }
    }

    /// Reads what was written since the last look, and says what is known of the wanted topics.
    ///
    /// Of a file that has grown by much, the end is read. A message counts when nothing more came
    /// of it for two looks: so programs with a period of up to two seconds lose none, if somebody
    /// looks each second.
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
