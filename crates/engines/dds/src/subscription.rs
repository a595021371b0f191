//! Subscriptions.

use std::sync::Arc;

use feros_engine::gaps::Gaps;
use feros_engine::{
    AnnounceError, Created, EventError, Gid, Match, QosProfile, Sample, Subscription,
    SubscriptionEvent, SubscriptionOptions, TakeError, TypeHash,
};
use feros_sync::Mutex;

use crate::announced;
use crate::library::{Creation, Endpoint, Participant, Reader, ReaderOf, Taken};
use crate::listener::Notifications;
use crate::names::EndpointNames;
use crate::nodes::{NodeMember, SessionState};

pub(crate) struct DdsSubscription<P: Participant> {
    // This is dropped first, so that the announcement is withdrawn before the reader is deleted.
    _member: NodeMember<P>,
    reader: ReaderOf<P>,
    qos: QosProfile,
    type_hash: Option<TypeHash>,
    gaps: Mutex<Gaps>,
}

impl<P: Participant> DdsSubscription<P> {
    pub(crate) fn new(
        shared: &Arc<SessionState<P>>,
        options: SubscriptionOptions<'_>,
    ) -> Created<Self> {
        let qos = options.qos;
        let as_it_is = qos.avoid_ros_namespace_conventions;
        let names = EndpointNames::of_topic(options.topic, options.type_name, as_it_is)?;
        let EndpointNames { ros: name, topic, type_name } = names.clone();
        let reader = shared.participant.create_reader(Creation {
            names,
            qos: &qos,
            data: Some(&announced::topic_data(options.type_hash, options.announcement)),
            ignores_local: options.ignore_local_publications,
            notifications: Notifications {
                on_data: Some(options.on_data),
                on_event: options.on_event,
                ..Notifications::default()
            },
        })?;
        let gid = reader.gid();
        reader.trace_as(feros_trace::Endpoint::new(feros_trace::Kind::Subscription, gid.0, &name));
        shared.graph.watch_type(gid, false, &topic, &type_name, reader.type_watcher());
        let member = shared.join_node(options.node, &name, vec![gid], vec![]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(gid))?;
        let type_hash = options.type_hash;
        Ok(Self { _member: member, reader, qos, type_hash, gaps: Mutex::default() })
    }
}

impl<P: Participant> Subscription for DdsSubscription<P> {
    fn gid(&self) -> Gid {
        self.reader.gid()
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        loop {
            let Some(taken) = self.reader.take()? else { return Ok(None) };
            if self.reader.is_ignored(&taken) {
                continue;
            }
            let number = taken.publication_number();
            let lost = self.gaps.lock().next(taken.writer(), number, || self.matched_gids());
            if lost > 0 {
                self.reader.count_lost(lost);
            }
            if self.reader.is_expired(&taken) {
                continue;
            }
            let mut sample = taken.lend(self.reader.gid());
            let number = u64::try_from(number).ok().filter(|number| *number > 0);
            sample.info.publication_sequence_number = number;
            return Ok(Some(sample));
        }
    }

    fn matched_publishers(&self) -> usize {
        self.reader.matched_count()
    }

    fn matches(&self) -> Vec<Match> {
        self.reader.matches()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        announced::change(&self.reader, self.type_hash, announcement)
    }

    fn expect_gaps(&self, publisher: Gid, expect: bool) {
        self.gaps.lock().expect(publisher, expect, || self.matched_gids());
    }

    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        Ok(self.reader.take_event())
    }

    fn refused_samples(&self) -> u64 {
        self.reader.refused_samples()
    }
}
