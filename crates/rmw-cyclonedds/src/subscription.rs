//! Subscriptions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use feros_cyclonedds_sys as sys;
use feros_rmw::gaps::Gaps;
use feros_rmw::{
    AnnounceError, CreateEndpointError, EventError, Gid, Match, QosProfile, Sample, Subscription,
    SubscriptionEvent, SubscriptionOptions, TakeError,
};

use crate::announcement::Announced;
use crate::endpoint::{Notifications, Reader};
use crate::matches::as_match;
use crate::qos::Qos;
use crate::sample::lend;
use crate::session_state::{NodeMember, SessionState};
use crate::topic::EndpointNames;
use feros_rmw_dds::graph::IncompatibleType;
use feros_sync::Mutex;

pub(crate) struct CycloneSubscription {
    // Dropped first: the announcement goes before the reader.
    _member: NodeMember,
    reader: Reader,
    qos: QosProfile,
    gaps: Mutex<Gaps>,
    announced: Announced,
}

impl CycloneSubscription {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        names: EndpointNames,
        qos: QosProfile,
        options: SubscriptionOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let announced = Announced::new(options.type_hash);
        let notifications = Notifications {
            on_data: Some(options.on_data),
            on_event: options.on_event,
            ..Notifications::default()
        };
        let name = names.ros.clone();
        let (topic, type_name) = (names.topic.clone(), names.type_name.clone());
        let dds_qos = Qos::reader(
            &qos,
            &announced.user_data(options.announcement),
            options.ignore_local_publications,
        );
        let reader = Reader::new(&shared.participant, names, &dds_qos, notifications)?;
        let traced = feros_trace::Endpoint::new(
            feros_trace::Kind::Subscription,
            reader.gid.0,
            &reader.names.ros,
        );
        let _ = reader.listener_state.traced.set(traced); // it has none yet
        let watcher =
            Arc::downgrade(&reader.listener_state) as std::sync::Weak<dyn IncompatibleType>;
        shared.graph.watch_type(reader.gid, false, &topic, &type_name, watcher);
        let member = shared.join_node(options.node, &name, vec![reader.gid], vec![]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(reader.gid))?;
        Ok(Self { _member: member, reader, qos, gaps: Mutex::default(), announced })
    }
}

/// The number of a sample among all that its publisher published: what `Writer::write` says, or
/// else the engine's.
fn publication_number(info: &sys::feros_sample_info) -> i64 {
    let is_said = info.has_related && info.related.guid == info.writer_guid;
    if is_said { info.related.sequence_number } else { info.sequence_number }
}

impl Subscription for CycloneSubscription {
    fn gid(&self) -> Gid {
        self.reader.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        let Some((sample, _)) = self.reader.take()? else { return Ok(None) };
        let info = sample.info();
        let from = Gid(info.writer_guid);
        let number = publication_number(&info);
        let lost = self.gaps.lock().next(from, number, || self.matched_gids());
        if lost > 0 {
            self.reader.listener_state.change(|status| status.lost.add(lost));
        }
        let mut sample = lend(sample, self.reader.participant.gid);
        let number = u64::try_from(number).ok().filter(|number| *number > 0);
        sample.info.publication_sequence_number = number;
        Ok(Some(sample))
    }

    fn matched_publishers(&self) -> usize {
        self.reader.listener_state.matched.load(Ordering::Acquire)
    }

    fn matches(&self) -> Vec<Match> {
        self.reader.matched(as_match)
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        self.announced.change(&self.reader.entity, &self.reader.names.ros, announcement)
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
