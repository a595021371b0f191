//! Subscriptions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use feros_rmw::{
    AnnounceError, CreateEndpointError, EventError, Gid, Match, QosProfile, Sample, Subscription,
    SubscriptionEvent, SubscriptionOptions, TakeError,
};

use crate::announcement::Announced;
use crate::endpoint::{Creation, Reader};
use crate::listener::Notifications;
use crate::names::EndpointNames;
use crate::session_state::{NodeMember, SessionState};
use feros_rmw::gaps::Gaps;
use feros_rmw_dds::graph::IncompatibleType;
use feros_sync::Mutex;

pub(crate) struct FastDdsSubscription {
    // Dropped first: the announcement goes before the reader.
    _member: NodeMember,
    reader: Reader,
    qos: QosProfile,
    gaps: Mutex<Gaps>,
    announced: Announced,
    /// Fast DDS delivers what the own session publishes in any case.
    ignores_local: bool,
}

impl FastDdsSubscription {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        names: EndpointNames,
        qos: QosProfile,
        options: SubscriptionOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let announced = Announced::new(options.type_hash, &qos, options.ignore_local_publications);
        let name = names.ros.clone();
        let (topic, type_name) = (names.topic.clone(), names.type_name.clone());
        let creation = Creation {
            names: &names,
            qos: &qos,
            user_data: &announced.user_data(options.announcement),
            notifications: Notifications {
                on_data: Some(options.on_data),
                on_event: options.on_event,
                ignores_local: options.ignore_local_publications,
                ..Notifications::default()
            },
        };
        let reader = Reader::new(&shared.participant, &creation)?;
        let watcher =
            Arc::downgrade(&reader.listener_state) as std::sync::Weak<dyn IncompatibleType>;
        shared.graph.watch_type(reader.gid, false, &topic, &type_name, watcher);
        let member = shared.join_node(options.node, &name, vec![reader.gid], vec![]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(reader.gid))?;
        Ok(Self {
            _member: member,
            reader,
            qos,
            gaps: Mutex::default(),
            announced,
            ignores_local: options.ignore_local_publications,
        })
    }
}

impl Subscription for FastDdsSubscription {
    fn gid(&self) -> Gid {
        self.reader.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        loop {
            let Some(sample) = self.reader.take()? else { return Ok(None) };
            let from = sample.writer;
            if self.ignores_local && self.reader.participant.discovered.is_own(from) {
                continue;
            }
            let number = sample.publication_number();
            let lost = self.gaps.lock().next(from, number, || self.matched_gids());
            if lost > 0 {
                self.reader.listener_state.change(|status| status.lost.add(lost));
            }
            let info = sample.info(self.reader.participant.gid);
            if self.reader.listener_state.is_expired(from, info.source_timestamp) {
                continue;
            }
            let mut sample = sample.lend(self.reader.participant.gid);
            let number = u64::try_from(number).ok().filter(|number| *number > 0);
            sample.info.publication_sequence_number = number;
            return Ok(Some(sample));
        }
    }

    fn matched_publishers(&self) -> usize {
        self.reader.listener_state.matched_count.load(Ordering::Acquire)
    }

    fn matches(&self) -> Vec<Match> {
        self.reader.listener_state.matches()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        let set = |data: &str| self.reader.set_user_data(data);
        self.announced.change(&self.reader.names.ros, announcement, set)
    }

    fn expect_gaps(&self, publisher: Gid, expect: bool) {
        self.gaps.lock().expect(publisher, expect, || self.matched_gids());
    }

    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        Ok(self.reader.listener_state.status.lock().take())
    }

    fn refused_samples(&self) -> u64 {
        self.reader.refused_samples()
    }
}
