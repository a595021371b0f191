//! Implements the traits of `feros-dds` for Cyclone DDS: a participant that creates writers and
//! readers.

use std::sync::Arc;

use feros_dds::graph::Graph;
use feros_dds::library::{self, Creation};
use feros_engine::{Created, Ending, Gid, Traffic};

use crate::discovery::Discovery;
use crate::domain::{ENGINE_NAME, ENGINE_VERSION};
use crate::endpoint::{Reader, Writer};
use crate::participant::Participant;
use crate::sample::Taken;

impl library::Participant for Participant {
    type Writer = Writer;
    type Reader = Reader;
    type Discovery = Discovery;

    fn engine_name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn engine_version(&self) -> String {
        ENGINE_VERSION.to_owned()
    }

    fn configuration(&self) -> String {
        self.domain.configuration.clone()
    }

    fn received(&self) -> Option<Traffic> {
        self.traffic()
    }

    fn gid(&self) -> Gid {
        self.gid
    }

    fn ending(&self) -> Ending {
        self.ending.clone()
    }

    fn discover(self: &Arc<Self>, graph: &Arc<Graph>) -> Created<Discovery> {
        let discovery = Discovery::start(self, graph.clone())?;
        if let Some(neighbours) = &self.domain.neighbours {
            neighbours.add_graph(graph);
        }
        Ok(discovery)
    }

    fn neighbours(&self) -> usize {
        self.domain.neighbours.as_ref().map_or(0, |neighbours| neighbours.count())
    }

    fn tell_neighbours(&self, nodes: &[u8]) {
        if let Some(neighbours) = &self.domain.neighbours {
            neighbours.tell_nodes(self.gid, nodes);
        }
    }

    fn create_writer(self: &Arc<Self>, creation: Creation<'_, Taken>) -> Created<Writer> {
        Writer::new(self, creation)
    }

    fn create_reader(self: &Arc<Self>, creation: Creation<'_, Taken>) -> Created<Reader> {
        Reader::new(self, creation)
    }
}
