//! Subscriptions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use feros_cyclonedds_sys as sys;
use feros_rmw::{
    CreateEndpointError, EventError, Gid, QosProfile, Sample, Subscription, SubscriptionEvent,
    SubscriptionOptions, TakeError,
};

use crate::endpoint::{Names, Reader, Wakes};
use crate::graph::IncompatibleType;
use crate::qos::Qos;
use crate::sample::lend;
use crate::session::{NodeMember, Shared};
use crate::sync::Mutex;
use feros_rmw::dds::user_data::EndpointData;

pub(crate) struct CycloneSubscription {
    // Dropped first: the announcement goes before the reader.
    _member: NodeMember,
    reader: Reader,
    qos: QosProfile,
    /// The number of the last message of each publisher, by which gaps are found.
    last_numbers: Mutex<HashMap<[u8; 16], i64>>,
}

/// Publishers whose numbers are remembered before those that left are forgotten.
const REMEMBERED_PUBLISHERS: usize = 256;

impl CycloneSubscription {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        names: Names,
        qos: QosProfile,
        options: SubscriptionOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let data = EndpointData { type_hash: options.type_hash, ..EndpointData::default() };
        let wakes = Wakes { on_data: Some(options.on_data), on_event: options.on_event, ..Wakes::default() };
        let name = names.ros.clone();
        let (topic, type_name) = (names.topic.clone(), names.type_name.clone());
        let dds_qos = Qos::reader(&qos, &data.encode(), options.ignore_local_publications);
        let reader = Reader::new(&shared.participant, names, &dds_qos, wakes)?;
        let watcher = Arc::downgrade(&reader.watched) as std::sync::Weak<dyn IncompatibleType>;
        shared.graph.watch_type(reader.gid, false, &topic, &type_name, watcher);
        let member = shared.join_node(options.node, &name, vec![reader.gid], vec![]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(reader.gid))?;
        Ok(Self { _member: member, reader, qos, last_numbers: Mutex::default() })
    }

    /// Counts what lies between this message and the one before of the same publisher: it was lost on the way, or pushed out
    /// of the history before it was taken.
    fn count_lost(&self, info: &sys::feros_sample_info) {
        let lost = {
            let mut last_numbers = self.last_numbers.lock();
            if last_numbers.len() >= REMEMBERED_PUBLISHERS && !last_numbers.contains_key(&info.writer_guid) {
                let matched = self.matched_gids();
                last_numbers.retain(|guid, _| matched.contains(&Gid(*guid)));
            }
            let last = last_numbers.entry(info.writer_guid).or_insert(info.sequence_number);
            let lost = info.sequence_number.saturating_sub(*last).saturating_sub(1);
            *last = info.sequence_number.max(*last);
            u64::try_from(lost).unwrap_or(0)
        };
        if lost > 0 {
            self.reader.watched.change(|status| status.lost.total += lost);
        }
    }
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
        self.count_lost(&sample.info());
        Ok(Some(lend(sample, self.reader.participant.gid)))
    }

    fn matched_publishers(&self) -> usize {
        self.reader.watched.matched.load(Ordering::Acquire)
    }

    fn matched_gids(&self) -> Vec<Gid> {
        self.reader.matched().into_iter().map(|(gid, _)| gid).collect()
    }

    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        Ok(self.reader.watched.status.lock().take())
    }

    fn refused_samples(&self) -> u64 {
        self.reader.refused_samples()
    }
}
