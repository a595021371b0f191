//! The layers of latencies, from the traces that running programs write.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use feros_engine::Gid;
use feros_trace_analysis::{LiveTrace, PairLayers, Percentiles};
use serde::Serialize;

/// The layers, by the gids of the publisher and the subscription.
pub(crate) type LayersOfPairs = HashMap<(Gid, Gid), EdgeLayers>;

/// Reads the folder of traces repeatedly.
pub(crate) struct LayerReader {
    folder: PathBuf,
    trace: LiveTrace,
}

/// The source of the layers.
#[derive(Serialize)]
pub(crate) struct Traces {
    folder: String,
    /// The number of programs that have written traces recently; `None` while no client wants
    /// layers.
    programs: Option<usize>,
    problems: Vec<String>,
}

/// The recent latencies of the messages between one publisher and one subscription.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EdgeLayers {
    messages: u64,
    end_to_end_nanos: MedianAndP99,
    layers: Vec<Layer>,
}

#[derive(Serialize)]
struct Layer {
    name: &'static str,
    nanos: MedianAndP99,
    /// The layer's share of the total time: 0.25 is a quarter.
    share: f64,
}

#[derive(Serialize)]
pub(crate) struct MedianAndP99 {
    pub(crate) p50: u64,
    pub(crate) p99: u64,
}

impl LayerReader {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), trace: LiveTrace::new(folder) }
    }

    /// Reads the layers of these topics; to be called about once per second.
    pub(crate) fn read(&mut self, topics: &BTreeSet<String>) -> (Traces, LayersOfPairs) {
        let figures = self.trace.look(|topic| topics.contains(topic));
        let programs = Some(figures.programs);
        let traces =
            Traces { programs, problems: figures.problems, ..Traces::unread(&self.folder) };
        let key = |pair: &PairLayers| (Gid(pair.publisher), Gid(pair.subscription));
        (traces, figures.pairs.iter().map(|pair| (key(pair), edge_layers(pair))).collect())
    }
}

impl Traces {
    /// Returns the traces as they are reported while no client wants layers.
    pub(crate) fn unread(folder: &Path) -> Self {
        Self { folder: folder.display().to_string(), programs: None, problems: Vec::new() }
    }
}

fn edge_layers(PairLayers { end_to_end, layers, .. }: &PairLayers) -> EdgeLayers {
    let figures = |of: &Percentiles| MedianAndP99 { p50: of.median_nanos, p99: of.p99_nanos };
    let layers = layers.iter().map(|layer| Layer {
        name: layer.name,
        nanos: figures(&layer.nanos),
        share: layer.share_percent / 100.0,
    });
    EdgeLayers {
        messages: end_to_end.count,
        end_to_end_nanos: figures(end_to_end),
        layers: layers.collect(),
    }
}
