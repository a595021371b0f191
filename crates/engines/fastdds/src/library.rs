//! Implements the traits of `feros-dds` for Fast DDS: a participant that creates writers and
//! readers.

use std::sync::Arc;

use feros_dds::graph::Graph;
use feros_dds::library::{self, Creation, Taken as _};
use feros_dds::listener::Notifications;
use feros_dds::names::EndpointNames;
use feros_engine::{Created, Gid, QosProfile};

use crate::endpoint::{Reader, Writer};
use crate::participant::{ENGINE_NAME, Participant};
use crate::sample::Taken;

impl library::Participant for Participant {
    type Writer = Writer;
    type Reader = Reader;
    type Discovery = Reader;

    const NO_LOCAL_REQUESTS_ONLY: Option<&'static str> = Some(
        "Fast DDS does not show the source of a request; leave local_requests_only out, use \
         ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST, or another engine",
    );

    fn engine_name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn engine_version(&self) -> String {
        self.shim.fastdds_version()
    }

    fn configuration(&self) -> String {
        Participant::configuration(self)
    }

    fn gid(&self) -> Gid {
        self.gid
    }

    /// Starts to receive the nodes that other participants announce. Participants and endpoints are
    /// reported by the callbacks of the participant and not by the returned reader.
    fn discover(self: &Arc<Self>, _: &Arc<Graph>) -> Created<Reader> {
        let participant = Arc::downgrade(self);
        let on_sample = move |taken: Taken| {
            if let Some(participant) = participant.upgrade()
                && !participant.discovered.is_own(taken.writer())
            {
                participant.discovered.announced(&taken);
            }
        };
        self.create_reader(Creation {
            names: EndpointNames::of_discovery(),
            qos: &QosProfile::keep_all().transient_local(),
            data: None,
            ignores_local: false,
            notifications: Notifications {
                on_sample: Some(Arc::new(on_sample)),
                ..Notifications::default()
            },
        })
    }

    fn create_writer(self: &Arc<Self>, creation: Creation<'_, Taken>) -> Created<Writer> {
        Writer::new(self, &creation)
    }

    fn create_reader(self: &Arc<Self>, creation: Creation<'_, Taken>) -> Created<Reader> {
        Reader::new(self, &creation)
    }
}
